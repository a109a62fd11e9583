// Holds the precompiled header that the torch-free rooms share.
