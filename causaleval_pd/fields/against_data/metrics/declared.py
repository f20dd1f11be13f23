"""What the declarations of metrics against data share."""

from __future__ import annotations

import math
from typing import Any

from ....contract.options import Convention

#: of all metrics here
OF_ESTIMATE: dict[str, Any] = {"field": "graph", "truth_kinds": (), "costly": True}
#: of numbers that are 0 at best, without a largest one and as shares
MISTAKES: dict[str, Any] = {"direction": "minimize", "range": (0, math.inf), "optimum": 0}
SHARE_OF_MISTAKES: dict[str, Any] = {**MISTAKES, "range": (0, 1)}
#: classes with the independences of a DAG; what depends on these alone takes them all
WITH_A_DAG = ("dag", "cpdag", "pdag")
#: classes whose separations are known
SEPARATED = (*WITH_A_DAG, "mag", "pag", "admg")

#: of metrics that depend on the DAG, not on its class alone
OF_A_DAG: dict[str, Any] = {
    **OF_ESTIMATE,
    "kinds": ("dag",),
    "conventions": [
        Convention(
            "extension",
            "first",
            ("cpdag", "pdag"),
            "the first DAG of the class by the order of nodes; other DAGs of the class have other values",
        )
    ],
}
OPTIONS = {
    "extension": """extension : {None, "first"}
    None refuses classes of DAGs, whose members have other values; "first" takes the first DAG of a CPDAG or PDAG, by
    the order of nodes, NaN for graphs without one."""
}
