package screen

// IsTree reports whether a body is shown as a tree.
func IsTree(body []byte) bool {
	_, ok := newIndex(body)
	return ok
}
