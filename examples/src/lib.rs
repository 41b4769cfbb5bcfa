//! Parts shared by the examples.
