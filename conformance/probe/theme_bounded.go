package probe

// bounded plans parameters of the document at their bounds and outside (API).
func bounded() theme { return theme{} }
