package requirement

// transport lists group TLS in catalogue order.
func transport() []Requirement { return nil }
