"""Names that code written for cuda.core imports from its private ``_utils`` package."""
