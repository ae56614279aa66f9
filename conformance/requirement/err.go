package requirement

// errorShapes lists group ERR in catalogue order.
func errorShapes() []Requirement { return nil }
