package main_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/control"
)

// kept is what a test knows of a client: what was acknowledged, and the step that was under way when the sandbox was killed.
type kept struct {
	id, secret string
	state      string // registered, permitted, revoked; empty: its creation was not acknowledged
	rotated    bool
	pending    string // the step that got no answer
}

// life does the steps of a client's life until the sandbox is gone. Each acknowledged one is counted.
func life(c control.Client, id string, acknowledged func()) kept {
	k := kept{id: id}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"create", func() error {
			made, err := c.Create("XA", control.NewAccount{ClientID: id})
			if err == nil {
				k.secret, k.state = made.Secret, "registered"
			}
			return err
		}},
		{"grant", func() error {
			_, err := c.Grant("XA", id, control.Permission{Role: "EXTERNAL_API_CLIENT", Affiliation: id})
			if err == nil {
				k.state = "permitted"
			}
			return err
		}},
		{"rotate", func() error {
			made, err := c.Rotate("XA", id)
			if err == nil {
				k.secret, k.rotated = made.Secret, true
			}
			return err
		}},
		{"revoke", func() error {
			if len(id)%2 == 0 { // some live on
				return nil
			}
			_, err := c.Revoke("XA", id)
			if err == nil {
				k.state = "revoked"
			}
			return err
		}},
	} {
		if step.do() != nil {
			k.pending = step.name
			return k
		}
		acknowledged()
	}
	return k
}

// expect compares the books of a sandbox with what was acknowledged. A step without an answer may have been done or not.
func (k kept) expect(base string, books map[string]control.Account) {
	GinkgoHelper()
	now, there := books[k.id]
	if k.state == "" {
		if there {
			Expect(now.State).To(Equal("registered"))
		}
		return
	}
	Expect(there).To(BeTrue(), "%+v", k)
	after := map[string]string{"grant": "permitted", "revoke": "revoked"}[k.pending]
	Expect(now.State).To(Or(Equal(k.state), And(Equal(after), Not(BeEmpty()))), "%+v", k)
	if k.rotated {
		Expect(now.Rotated.IsZero()).To(BeFalse(), "%+v", k)
	}
	if k.pending == "rotate" && !now.Rotated.IsZero() {
		return // the new secret went down with the sandbox
	}
	status, token := tokenFrom(base, k.id, k.secret)
	switch now.State {
	case "revoked":
		Expect(status).To(Equal(401), "%+v", k)
	case "permitted":
		Expect(status).To(Equal(200), "%+v", k)
		Expect(fundings(base, token)).To(Equal(200), "%+v", k)
	default:
		Expect(status).To(Equal(200), "%+v", k)
	}
}

var _ = Describe("A sandbox with --data that is killed", func() {
	It("keeps every acknowledged step when it is killed 50 times in the middle of steps", func() {
		const times, hands = 50, 4
		dir := filepath.Join(GinkgoT().TempDir(), "books")
		var all []kept
		var demo string // the secret that was printed with the first start, which was killed soon after
		checked := 0
		verify := func(base string, c control.Client, those []kept) {
			GinkgoHelper()
			listed, err := c.Accounts("XA")
			Expect(err).NotTo(HaveOccurred())
			books := map[string]control.Account{}
			for _, a := range listed.Accounts {
				books[a.ClientID] = a
			}
			for _, k := range those {
				k.expect(base, books)
			}
		}
		for round := range times {
			base, url, session := controlledSandbox("--calls", "3", "--data", dir)
			c := control.Client{Context: context.Background(), Base: url}
			if round == 0 {
				demo = demoSecret(session)
			}
			verify(base, c, all[checked:])
			checked = len(all)

			var acknowledgements atomic.Int64
			last := int64(1 + round%13)
			var mu sync.Mutex
			var running sync.WaitGroup
			for hand := range hands {
				running.Go(func() {
					for n := 0; ; n++ {
						k := life(c, fmt.Sprintf("c-%d-%d-%d", round, hand, n), func() {
							if acknowledgements.Add(1) == last {
								session.Kill()
							}
						})
						mu.Lock()
						all = append(all, k)
						mu.Unlock()
						if k.pending != "" {
							return
						}
					}
				})
			}
			running.Wait()
			session.Wait("10s")
		}
		base, url, _ := controlledSandbox("--calls", "3", "--data", dir)
		verify(base, control.Client{Context: context.Background(), Base: url}, all)
		status, _ := tokenFrom(base, "demo-client", demo)
		Expect(status).To(Equal(200))
		interrupted := slices.DeleteFunc(all, func(k kept) bool { return k.pending == "" })
		Expect(interrupted).To(HaveLen(times * hands))
	})
})
