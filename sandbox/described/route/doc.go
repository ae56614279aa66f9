// Package route finds the path template of an OpenAPI document that a request's path is of: what is written out comes before what is
// templated (OAS 3.0.3 §4.7.8.2), and the longer text before the shorter.
package route
