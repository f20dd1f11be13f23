"""Tests and models on cubes: a cube goes in, a table with a row a stratum and metric comes out."""
