// Package view draws the parts that the screens of the tour are made of: themes, wrapped texts, panes of messages, JSON trees, footers.
// Whatever it is given of a node is made harmless first.
package view
