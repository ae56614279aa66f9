// Package parameter reads the values of parameters from a request, as their style and schema say (OAS 3.0.3 §4.7.12): path, query, header and
// cookie, with every style, exploded or not, and texts of a media type of their own.
//
// It gives values of JSON; whether they fit the schema is judged by another. It never fails on foreign input but says what was expected.
package parameter
