"""What a metric, a null model, a field, an encoding and a figure are.

Each is a small declared object in a registry, listed by `ce.list_metrics()` and its siblings. The other rooms know a
field only by what it registers here.
"""
