package requirement

// versioning lists group VER in catalogue order.
func versioning() []Requirement { return nil }
