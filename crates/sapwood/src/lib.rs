//! Scaling the training of neural networks: the command line and the library facade
