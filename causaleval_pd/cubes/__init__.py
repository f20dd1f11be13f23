"""cubes."""
