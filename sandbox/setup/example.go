package setup

import _ "embed" // for the example

//go:embed example.yaml
var example string

// Example is a file that has all that a node can be told, and starts as it stands.
func Example() string { return example }
