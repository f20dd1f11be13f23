"""Controls that are listed rather than drawn, and the exact laws of any metric under them."""
