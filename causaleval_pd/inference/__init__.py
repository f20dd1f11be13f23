"""Tests and models on cubes: a cube goes in, a table with one row per stratum and metric comes out."""
