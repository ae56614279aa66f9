package deviation

// hygieneDeviations open other ways in, and let secrets out.
func hygieneDeviations() []Deviation { return nil }
