"""The bytes of a packed cell: header, names, planes; written, read, and kept unpacked."""
