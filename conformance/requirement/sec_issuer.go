package requirement

// issuerHygiene are SEC-05 to SEC-07: what an authorization server must not accept, and what it says of itself.
func issuerHygiene() []Requirement { return nil }
