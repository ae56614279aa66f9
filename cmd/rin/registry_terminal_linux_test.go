package main_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("rin registry run on a terminal", func() {
	It("shows the nodes at work in a table, and leaves only a line for each node", func() {
		good := newNode(nil)
		r := newRegistry(fmt.Sprintf("defaults: {profile: auth, client-id: %s, client-secret: env:SECRET}\nrun: {at-once: 2}\n", good.clients[0].ClientID))
		r.write(entryOf("XA", good.URL), entryOf("XB", good.URL), entry{"X\x1bC", good.URL + "/oauth/token", "not a URL"})
		s := onTerminal(false, "", []string{"SECRET=" + good.clients[0].Secret}, "registry", "run", r.path)
		s.shows("testing")
		all := s.ends(0)
		plain := withoutSequences(all)
		Expect(plain).To(And(MatchRegexp(`  X[AB]            testing                   \[#*\.*\] +\d+/\d+`), MatchRegexp(`night of \S+: \d of \d nodes tested, \d passed`)))
		last := plain[strings.LastIndex(plain, "nodes tested"):]
		Expect(last).To(ContainSubstring("delayed check: 2 passed"))
		Expect(strings.Count(plain, "✓ passed   XA ")).To(Equal(1))
		Expect(all).NotTo(ContainSubstring("X\x1bC"))

		lines := r.rin("run")
		Expect(lines.err).NotTo(ContainSubstring("\x1b"), "elsewhere there are plain lines")
	})
})
