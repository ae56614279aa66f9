// Package answer holds an answer of the node in memory, so that it can be changed before it is sent.
package answer
