package target_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/target"
)

const hidden = "the-hidden-secret"

var _ = Describe("A secret", func() {
	full := target.Target{
		TokenURL: "https://sso.example/token", InfoURL: "https://api.example/v1/info",
		Credentials: target.Credentials{ClientID: "client", ClientSecret: target.NewSecret(hidden)},
		Second:      &target.Credentials{ClientID: "second", ClientSecret: target.NewSecret(hidden)},
		Other:       &target.Credentials{ClientID: "other", ClientSecret: target.NewSecret(hidden)},
		Staging: &target.Staging{TokenURL: "https://staging.example/token",
			Credentials: target.Credentials{ClientID: "staging", ClientSecret: target.NewSecret(hidden)}},
		ExpiredToken: target.NewSecret(hidden),
	}

	DescribeTable("is not shown by formatters",
		func(verb string) {
			for _, value := range []any{
				full, &full, full.Credentials, full.Credentials.ClientSecret,
				[]target.Secret{full.Credentials.ClientSecret},
				struct{ unexported target.Credentials }{full.Credentials},
			} {
				Expect(fmt.Sprintf(verb, value)).NotTo(ContainSubstring(hidden))
				Expect(fmt.Sprintf(verb, value)).NotTo(ContainSubstring(fmt.Sprintf("%x", hidden)))
			}
		},
		Entry(nil, "%v"), Entry(nil, "%+v"), Entry(nil, "%#v"), Entry(nil, "%s"), Entry(nil, "%q"), Entry(nil, "%x"), Entry(nil, "%d"),
	)

	It("is not shown by loggers", func() {
		var text, structured bytes.Buffer
		for _, h := range []slog.Handler{slog.NewTextHandler(&text, nil), slog.NewJSONHandler(&structured, nil)} {
			slog.New(h).Info("run", "target", full, "credentials", full.Credentials, "secret", full.Credentials.ClientSecret)
		}
		Expect(text.String()).To(And(ContainSubstring("sso.example"), Not(ContainSubstring(hidden))))
		Expect(structured.String()).To(And(ContainSubstring("sso.example"), Not(ContainSubstring(hidden))))
	})

	It("is not shown by errors", func() {
		Expect(full.Validate()).To(MatchError(Not(ContainSubstring(hidden))))
		var s target.Secret
		Expect(json.Unmarshal([]byte(`["`+hidden+`"]`), &s)).To(MatchError(Not(ContainSubstring(hidden))))
	})

	It("travels in JSON, to the worker", func() {
		data, err := json.Marshal(full)
		Expect(err).NotTo(HaveOccurred())
		var back target.Target
		Expect(json.Unmarshal(data, &back)).To(Succeed())
		Expect(back).To(Equal(full))
		Expect(back.Credentials.ClientSecret.Reveal()).To(Equal(hidden))
	})

	It("is absent when it is empty", func() {
		Expect(target.NewSecret("").IsZero()).To(BeTrue())
		Expect(target.NewSecret("x").IsZero()).To(BeFalse())
		Expect(target.Secret{}.Reveal()).To(BeEmpty())
	})
})

var _ = Describe("The source of a secret", func() {
	reader := target.Reader{
		Environment: func(name string) (string, bool) {
			return map[string]string{"SET": hidden, "EMPTY": ""}[name], name != "UNSET"
		},
		File: func(path string) ([]byte, error) {
			switch path {
			case "secret.txt":
				return []byte(hidden + "\r\n"), nil
			case "two.txt":
				return []byte(hidden + "\n\n"), nil
			case "huge":
				return make([]byte, 1<<20), nil
			}
			return nil, errors.New("no such file")
		},
		Stdin: func() ([]byte, error) { return []byte(hidden + "\n"), nil },
	}

	DescribeTable("yields the secret",
		func(text, want string, stdin bool) {
			source, err := target.ParseSource("--client-secret", text)
			Expect(err).NotTo(HaveOccurred())
			Expect(source.Stdin()).To(Equal(stdin))
			secret, err := source.Read(reader)
			Expect(err).NotTo(HaveOccurred())
			Expect(secret.Reveal()).To(Equal(want))
		},
		Entry("from the environment", "env:SET", hidden, false),
		Entry("from a file, without its line end", "file:secret.txt", hidden, false),
		Entry("from a file, with all but the last line end", "file:two.txt", hidden+"\n", false),
		Entry("from standard input", "-", hidden, true),
	)

	DescribeTable("is refused with the flag and a hint",
		func(text string, says ...string) {
			source, err := target.ParseSource("--client-secret", text)
			if err == nil {
				_, err = source.Read(reader)
			}
			var problem *target.Problem
			Expect(errors.As(err, &problem)).To(BeTrue())
			Expect(problem.Flag).To(Equal("--client-secret"))
			Expect(problem.Hint).NotTo(BeEmpty())
			for _, s := range says {
				Expect(err).To(MatchError(ContainSubstring(s)))
			}
			Expect(err).To(MatchError(Not(ContainSubstring(hidden))))
		},
		Entry("the secret itself", hidden, "not the secret itself", "file:PATH"),
		Entry("the secret itself, with a colon", "x:"+hidden, "not the secret itself"),
		Entry("nothing", "", "is empty: expected a place"),
		Entry("no name", "env:", "names nothing"),
		Entry("an unset variable", "env:UNSET", "UNSET is not set", "export UNSET"),
		Entry("an empty variable", "env:EMPTY", "is empty"),
		Entry("a missing file", "file:missing", "file missing", "no such file"),
		Entry("a huge file", "file:huge", "too many"),
	)

	It("fails if its reader has no environment, files or standard input", func() {
		for _, text := range []string{"env:SET", "file:x", "-"} {
			source, err := target.ParseSource("--client-secret", text)
			Expect(err).NotTo(HaveOccurred())
			_, err = source.Read(target.Reader{})
			Expect(err).To(HaveOccurred())
		}
		_, err := target.Source{}.Read(reader)
		Expect(err).To(MatchError(ContainSubstring("no source")))
	})
})
