package requirement

// tokenErrors lists group TER in catalogue order.
func tokenErrors() []Requirement { return nil }
