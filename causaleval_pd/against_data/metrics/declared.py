"""What the declarations of metrics against data share."""

from __future__ import annotations

from typing import Any

from ...contract.convention import Convention

#: of all metrics here
OF_ESTIMATE: dict[str, Any] = {"field": "graph", "truth_kinds": (), "costly": True}
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
    the order of nodes, NaN where there is none."""
}
