package requirement

// infoEndpoint lists group INF in catalogue order.
func infoEndpoint() []Requirement { return nil }
