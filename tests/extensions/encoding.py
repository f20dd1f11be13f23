from itertools import pairwise

import causaleval_pd as ce
from causaleval_pd.contract.encoding import Edges, Encoding, register_encoding


def read_path(cell):
    """Read "a>b>c" as a -> b -> c."""
    names = tuple(cell.split(">"))
    return Edges.from_arcs(names, pairwise(range(len(names))), is_open=True)


register_encoding(
    Encoding(
        name="path",
        tool="our lab",
        cells="path",
        meaning="each node is the parent of the next",
        mark="an edge i -> j is the > between the names",
        example="a>b>c",
        read=read_path,
        types=(str,),
        by_name=True,  # never recognised by type: the user names it
    )
)
ce.graph_column(["a>b>c", None], encoding="path").graph.to_strings()
