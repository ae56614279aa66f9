package requirement

// isolation lists group ISO in catalogue order.
func isolation() []Requirement { return nil }
