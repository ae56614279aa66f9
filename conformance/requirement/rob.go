package requirement

// robustness lists group ROB in catalogue order.
func robustness() []Requirement { return nil }
