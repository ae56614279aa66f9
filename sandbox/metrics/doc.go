// Package metrics counts what a sandbox does and writes the figures in the text format that Prometheus scrapes (version 0.0.4). It is its
// own writer: the format is a page long, and the client library would cost each start of rin more than the counting.
//
// Labels have few values, all known beforehand: what a caller sends never becomes one.
package metrics
