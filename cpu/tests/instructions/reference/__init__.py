"""An independent model of the PTX instructions: the tables' expected values come from here."""
