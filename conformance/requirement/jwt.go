package requirement

// tokenContent lists group JWT in catalogue order.
func tokenContent() []Requirement { return nil }
