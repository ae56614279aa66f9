//go:build unix

// Package firstcontact_test certifies nodes that the suite has never met. README.md says how a round is made, and lists the results.
//
// "make contact" certifies all nodes of all rounds with the built binary. "make test" certifies three nodes that need Go alone. RIN_CONTACT selects
// nodes by path and framework, such as "round1/nodego/go-base net/http (go)". A node whose framework is missing is skipped with a message.
package firstcontact_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestFirstContact(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "first contact")
}
