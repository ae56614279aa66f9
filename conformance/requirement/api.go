package requirement

// operations lists group API in catalogue order.
func operations() []Requirement { return nil }
