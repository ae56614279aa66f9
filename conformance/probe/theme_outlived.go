package probe

// outlived plans expired tokens and what only an operator may allow (BRR-10, BRR-14, SEC-05), last in a run.
func outlived() theme { return theme{} }
