package certificate

// Difference describes the first difference between two texts of a file; "" if they are equal.
func Difference(name string, want, got []byte) string {
	if f := difference(name, want, got); f != nil {
		return f.place + ": " + f.why
	}
	return ""
}
