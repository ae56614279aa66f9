package screen_test

import (
	"errors"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/screen"
	"github.com/rin-network/rin/tui/tuitest"
)

var _ = Describe("Credentials", func() {
	const secret = "dGhpcyBpcyBub3QgYSBzZWNyZXQgMTIz"
	withSecretReader := func(w *screen.Session) {
		w.Secret = func(place string) (target.Secret, error) {
			if place != "env:MY_SECRET" {
				return target.Secret{}, errors.New(strings.TrimPrefix(place, "env:") + " is not set")
			}
			return target.NewSecret(secret), nil
		}
	}
	withoutCredentials := func(t *target.Target) { t.Credentials, t.Second = target.Credentials{}, nil }
	expectHidden := func(b *fixture) {
		GinkgoHelper()
		for _, size := range [][2]int{{40, 15}, {80, 24}, {120, 40}} {
			seen := b.frame(size[0], size[1])
			Expect(seen).NotTo(Or(ContainSubstring(secret), ContainSubstring(secret[:8]), ContainSubstring(secret[20:])))
		}
	}

	It("are shown by their length, and enter accepts them", func() {
		b := newFixture(flow.Credentials, options{})
		Expect(b.frame(80, 24)).To(And(ContainSubstring("Client ID     demo-client"), ContainSubstring("•••••••• (43 characters)"),
			ContainSubstring("Without role  demo-client-without-role"), ContainSubstring("rin found no common mistake")))
		b.golden("credentials-given")
		Expect(b.press("enter").outgoing).To(ConsistOf(screen.NextStep{}))
	})

	It("are visible while secrets are revealed", func() {
		b := newFixture(flow.Credentials, options{})
		text := b.node.Credentials()[0].Secret
		b.Revealed = true
		b.press("end")
		b.settle(b.Update(screen.SecretsToggled{}))
		Expect(b.frame(80, 24)).To(ContainSubstring(text))
		b.Revealed = false
		b.settle(b.Update(screen.SecretsToggled{}))
		Expect(b.frame(80, 24)).NotTo(ContainSubstring(text[:6]))
	})

	It("are asked for if they are missing, masked, and checked while they are typed", func() {
		b := newFixture(flow.Credentials, options{changeTarget: withoutCredentials, changeSession: withSecretReader})
		Expect(b.Typing()).To(BeTrue())
		b.typeText("my-client").submit("› Client secret")
		b.typeText(secret + " ")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("> "+strings.Repeat("*", len(secret)+1)), ContainSubstring("! The client secret begins or ends with white")))
		expectHidden(b)
		b.golden("credentials-form")
		b.erase(1).submit("Client ID     my-client")
		Expect(b.Typing()).To(BeFalse())
		Expect(b.Walk.Target().Credentials.ClientSecret.Reveal()).To(Equal(secret))
		expectHidden(b)
		Expect(b.press("enter").outgoing).To(ConsistOf(screen.NextStep{}))
	})

	It("are accepted with a warning if ID and secret seem to be swapped", func() {
		b := newFixture(flow.Credentials, options{changeTarget: withoutCredentials, changeSession: withSecretReader})
		b.typeText(secret).submit("› Client secret").typeText("my-client")
		Expect(b.frame(120, 40)).To(ContainSubstring("they may be swapped"))
		b.submit("enter continue with them")
		Expect(b.press("enter").outgoing).To(ConsistOf(screen.NextStep{}))
	})

	It("may name the place of the secret, which is not masked", func() {
		b := newFixture(flow.Credentials, options{changeTarget: withoutCredentials, changeSession: withSecretReader})
		b.typeText("my-client").submit("› Client secret")
		b.typeText("env:NOPE").submit("✗ NOPE is not set")
		Expect(b.frame(80, 24)).To(ContainSubstring("> env:NOPE"))
		b.golden("credentials-place-unknown")
		b.clear().typeText("env:MY_SECRET").submit("Client ID     my-client")
		Expect(b.Walk.Target().Credentials.ClientSecret.Reveal()).To(Equal(secret))
		expectHidden(b)
	})

	It("drop the token when they are changed; an empty secret keeps the current one", func() {
		b := newFixture(flow.Credentials, options{changeSession: withSecretReader})
		kept := b.Walk.Target().Credentials.ClientSecret.Reveal()
		Expect(b.Walk.FetchToken(b.Context).OK()).To(BeTrue())
		b.press("e").typeText("-2").submit("› Client secret").submit("Client ID     demo-client-2")
		Expect(b.Walk.Target().Credentials.ClientSecret.Reveal()).To(Equal(kept))
		_, issued := b.Walk.Token()
		Expect(issued).To(BeFalse())
	})

	It("of a second client, and an expired token, have a form of their own", func() {
		b := newFixture(flow.Credentials, options{changeTarget: func(t *target.Target) { t.Second = nil }, changeSession: withSecretReader}).press("o")
		Expect(b.frame(80, 24)).To(ContainSubstring("A client without the role"))
		b.golden("credentials-others")
		b.typeText("other").submit("› Its secret").typeText("env:MY_SECRET").submit("› An expired token")
		b.typeText("eyJ.old.token").submit("Expired token •••••••• (13 characters)")
		a := b.Walk.Account()
		Expect(a.Second.ClientID).To(Equal("other"))
		Expect(a.Second.ClientSecret.Reveal()).To(Equal(secret))
		Expect(a.Expired.Reveal()).To(Equal("eyJ.old.token"))
		expectHidden(b)
		b.press("o").clear().submit("› Its secret").submit("› An expired token").submit("Client ID     demo-client")
		Expect(b.Walk.Account().Second).To(BeNil())
	})

	It("stay unchanged after esc", func() {
		b := newFixture(flow.Credentials, options{changeSession: withSecretReader}).press("e")
		before := b.Walk.Account()
		b.typeText("zzz").press("esc")
		Expect(b.Typing()).To(BeFalse())
		Expect(b.Walk.Account()).To(Equal(before))
	})

	It("open their form when another screen asks for it", func() {
		b := newFixture(flow.Credentials, options{})
		b.settle(b.Update(screen.OpenEditor{}))
		Expect(b.Typing()).To(BeTrue())
	})

	It("keep their layout with texts of any length", func() {
		b := newFixture(flow.Credentials, options{changeTarget: withoutCredentials, changeSession: withSecretReader})
		b.Update(tuitest.Key("\x1b[31m" + strings.Repeat("長", 700)))
		b.submit("› Client secret")
		b.Update(tuitest.Key(strings.Repeat("x", 9000)))
		for _, size := range [][2]int{{40, 15}, {80, 24}, {120, 40}} {
			b.frame(size[0], size[1])
		}
		b.submit("Client ID ")
		for _, size := range [][2]int{{40, 15}, {80, 24}, {120, 40}} {
			b.frame(size[0], size[1])
		}
	})
})
