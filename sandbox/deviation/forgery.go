package deviation

// forgeryDeviations let forged, expired and foreign tokens in.
func forgeryDeviations() []Deviation { return nil }
