// Package plain walks line by line: for screen readers, for pipes, and wherever no screen is. It prints the same steps as the terminal
// interface, in the same words, and asks nothing.
package plain
