package deviation

// transportDeviations break TLS; they work on the connections of a sandbox with TLS, not on requests.
func transportDeviations() []Deviation { return nil }
