package requirement

// specification lists group SPC in catalogue order.
func specification() []Requirement { return nil }
