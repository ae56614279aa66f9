package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/registry"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/target"
)

// admitFlags hold the values of the flags of rin registry admit.
type admitFlags struct {
	control, secret string
}

func registryAdmitCommand(w environment) *cobra.Command {
	var flags admitFlags
	cmd := &cobra.Command{
		Use:   "admit DIR ENTRY",
		Short: "Admit a node: proof of control, certification, certificate, patch",
		Long: `Admit takes a node into the registry. ENTRY is a file with its registry entry,
or the id of an entry that the registry document has, to prove control again.
The file holds one JSON object, as it will stand in the document: id, oauth2
(the token endpoint) and info (the info endpoint) are needed; acronym, name and
contact should be there, too (REG-04):

  {"id": "XA", "oauth2": "https://xa.example/oauth/token",
   "info": "https://xa.example/ris/info/v1/oauth/info/",
   "acronym": "UXA", "name": "University of XA",
   "contact": "ris@xa.example"}

  entry         the entry is checked
  control       a client id that is drawn here is refused by the token endpoint,
                then the node's operator creates it, then it is accepted
                (--control client); or a drawn text is found at
                /.well-known/rin-challenge/ of each origin, or in a TXT record
  certification the node is certified at standard effort, with the headers of an
                ordinary client (blind; registry.yaml may forbid it)
  delayed check some minutes later, four requests that share nothing with the
                run but the client: one for a new token, then a protected
                resource without a token, with a random one, and with the good
                one
  certificate   certificate, trust mark and badge are made, and the entry as a
                JSON Patch (RFC 6902) of the registry document

Each step that waits for the node's operator, that refuses the node or admits
it, prints a text to send to them, and names the report to enclose. The same
command continues the admission later, also after an interruption, and says so;
after a complete admission it begins a new one.

With --control well-known or dns, registry.yaml names the client. With --control
client, --client-secret names the place of the secret of the client that the
node's operator created. Give it each time, or write client and place below
nodes in registry.yaml, where the nightly runs need them, too. A file: path is
relative to the directory in which you are, one in registry.yaml to DIR.

Exit codes: 0 admitted, 1 the node was not certified, 2 usage, 3 waiting for the
node's operator, or the node could not be tested, 4 internal error.`,
		Example: `  rin registry admit my-registry xa.json
  rin registry admit my-registry xa.json --client-secret env:XA_SECRET
  rin registry admit my-registry XA --control well-known`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := openRegistry(w, args[0])
			if err != nil {
				return err
			}
			return r.admit(cmd, w, args[1], flags)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.control, "control", string(registry.ByClient), "how control is proved: client, well-known or dns")
	f.StringVar(&flags.secret, "client-secret", "", "place of the secret of the client that was created: env:NAME, file:PATH or exec:COMMAND")
	return cmd
}

// admit takes the steps of an admission that can be taken now.
func (r registryDir) admit(cmd *cobra.Command, w environment, entry string, flags admitFlags) error {
	ctx := cmd.Context()
	method, err := methodOf(flags.control)
	if err != nil {
		return err
	}
	if flags.secret, err = absolutePlace(flags.secret); err != nil {
		return err
	}
	document, err := r.document(ctx, w)
	if err != nil && !errors.Is(err, registry.ErrNoEntries) { // the first node of a registry has no document to stand in
		return err
	}
	text, err := entryText(w, entry, document)
	if err != nil {
		return err
	}
	a, e, err := r.OpenAdmission(text, method, w.random)
	var wrong *registry.EntryError
	var disk *fs.PathError
	switch {
	case errors.As(err, &wrong):
		fmt.Fprintf(w.out, "entry:         refused\n%s", formatLetter(registry.EntryLetter(err, r.Policy.Operator)))
		return usage(err, "")
	case errors.Is(err, registry.ErrBusy) || errors.As(err, &disk):
		return historyError(err)
	case err != nil:
		return usage(err, "")
	}
	defer a.Close()
	id := report.Plain(e.ID)
	fmt.Fprintf(w.out, "entry:         %s is in order\n", id)
	if earlier := a.History(); earlier != "" {
		fmt.Fprintf(w.out, "               this command %s\n", earlier)
	}
	policy := r.Policy.For(e.ID)
	secret, err := r.drawnSecret(ctx, a, &policy, flags)
	if err != nil {
		return err
	}
	prover, err := newProver(r.CACert)
	if err != nil {
		return usage(err, "")
	}
	if err := r.Prove(ctx, a, e, prover, secret); err != nil {
		if errors.Is(err, registry.ErrNoSecret) {
			fmt.Fprintf(w.out, "control:       %s\n\nif the node's operator has sent the secret, give its place with --client-secret, or\nwrite below nodes in %s:\n%s\nif they have not, they need this letter:\n\n%s",
				report.PlainLines(err.Error()), r.Dir.Policy(), clientLines(a, e, "env:NAME"), indent(a.Letter(e, r.Policy.Operator)))
			return exitWith(exitInconclusive)
		}
		if errors.Is(err, registry.ErrWaiting) {
			fmt.Fprintf(w.out, "control:       %s\n%s", report.PlainLines(err.Error()), formatLetter(a.Letter(e, r.Policy.Operator)))
			return exitWith(exitInconclusive)
		}
		if disk := new(fs.PathError); ctx.Err() != nil || errors.As(err, &disk) {
			return inconclusive(fmt.Errorf("prove control of %s: %w", id, err), "the same command tries again")
		}
		var answer *registry.ControlError
		if !errors.As(err, &answer) {
			fmt.Fprintln(w.out, "control:       not proved")
			return inconclusive(fmt.Errorf("prove control of %s: %w", id, err), "check that this machine reaches the node; the same command tries again")
		}
		fmt.Fprintf(w.out, "control:       not proved\n%s", formatLetter(registry.ControlLetter(e.ID, answer, r.Policy.Operator)))
		return inconclusive(fmt.Errorf("prove control of %s: %w", id, err), "")
	}
	fmt.Fprintf(w.out, "control:       proved on %s (%s)\n", a.Proved.Format("2006-01-02 15:04 UTC"), a.Method)
	if a.Method == registry.ByClient && policy.Client == (registry.Client{}) {
		return inconclusive(fmt.Errorf("certify %s: the secret of the client %s, which proved control, was not given", id, a.ClientID),
			fmt.Sprintf("give it with --client-secret as before, or write below nodes in %s: %q: {client-id: %s, client-secret: env:NAME}", r.Dir.Policy(), e.ID, a.ClientID))
	}
	patch, patched, err := registry.Patch(document.Text, *a)
	if err != nil {
		return inconclusive(err, "")
	}
	earlier := a.Run // of an admission that is continued
	if why := r.WhyAgain(a, version()); why != "" {
		fmt.Fprintf(w.out, "               the node is tested again: %s\n", why)
	}
	got, err := r.CertifyAdmission(ctx, a, e, patched, policy, w.random, version())
	if err != nil {
		return inconclusive(fmt.Errorf("certify %s: %w", id, err), "the same command tries again")
	}
	if why := registry.RefusedClient(got); why != "" {
		hint := "check the secret in --client-secret; the same command tries again"
		if flags.secret == "" {
			hint = fmt.Sprintf("check the client %s in %s", policy.Client.ID, r.Dir.Policy())
			if a.Method == registry.ByClient && policy.Client.ID != a.ClientID {
				hint += fmt.Sprintf(", or give with --client-secret the secret of the client %s, which proved control", a.ClientID)
			}
		}
		return inconclusive(fmt.Errorf("certify %s: %s", id, why), hint)
	}
	fmt.Fprintf(w.out, "certification: %s\n", report.Plain(got.Verdict.Headline))
	if code := exitCode(got.Verdict); code != exitOK {
		fmt.Fprintf(w.out, "               the same command tries again\n%s", formatLetter(registry.ReportLetter(e.ID, got, r.Policy.Operator), r.reportOf(e, a.Tried)))
		return exitWith(code)
	}
	if got.Made.Blind {
		fmt.Fprintln(w.out, "               blind: the node could not tell from the headers that it was tested")
	}
	if a.Run != nil && a.Run == earlier {
		fmt.Fprintf(w.out, "               in the run of %s\n", a.Run.Started.Format("2006-01-02 15:04 UTC"))
	}
	if err := r.delayedCheck(cmd, w, a, e, prover, policy); err != nil {
		return err
	}
	h, err := r.history()
	if err != nil {
		return err
	}
	defer h.Close()
	if err := r.Admit(h, a, e, patched, version()); err != nil {
		return historyError(err)
	}
	if err := r.conclude(w, h, a, e, patch, flags); err != nil {
		return err
	}
	fmt.Fprint(w.out, formatLetter(r.AdmittedLetter(a, e, got), r.reportOf(e, a.Run)))
	return historyError(r.CompleteAdmission(a))
}

// drawnSecret returns the secret of the drawn client from --client-secret or from the policy; zero if neither has it. It makes policy use that client.
func (r registryDir) drawnSecret(ctx context.Context, a *registry.Admission, policy *registry.NodePolicy, flags admitFlags) (target.Secret, error) {
	from, place := "--client-secret", flags.secret
	if place == "" && a.Method == registry.ByClient && policy.Client.ID == a.ClientID {
		from, place = r.Dir.Policy(), policy.Client.Secret
	}
	if place == "" {
		return target.Secret{}, nil
	}
	secret, err := r.Secrets.Read(ctx, a.ID, place)
	if err != nil {
		return secret, usage(fmt.Errorf("%s: %w", from, err), "name the place of the secret: env:NAME, file:PATH or exec:COMMAND")
	}
	policy.Client = registry.Client{ID: a.ClientID, Secret: place}
	return secret, nil
}

// clientLines returns the lines of registry.yaml that name the drawn client.
func clientLines(a *registry.Admission, e registry.Entry, place string) string {
	return fmt.Sprintf("  %q:\n    client-id: %s\n    client-secret: %s\n", e.ID, a.ClientID, place)
}

// reportOf returns the report of a run, for a letter.
func (r registryDir) reportOf(e registry.Entry, run *registry.AdmissionRun) string {
	return filepath.Join(r.Dir.RunDir(e.ID, run.Night), "report.html")
}

// delayedCheck waits until the delayed check is due, and makes it.
func (r registryDir) delayedCheck(cmd *cobra.Command, w environment, a *registry.Admission, e registry.Entry, prover registry.Prover, policy registry.NodePolicy) error {
	const hint = "the same command continues with the delayed check"
	if !a.Checked.IsZero() { // an earlier call made it, and was interrupted afterwards
		fmt.Fprintf(w.out, "delayed check: passed on %s\n", a.Checked.Format("2006-01-02 15:04 UTC"))
		return nil
	}
	for left := a.Run.Due.Sub(r.Now()); left > 0; left = a.Run.Due.Sub(r.Now()) {
		progress := newProgress(w.err, displayOf(w, w.err, cmd))
		progress.wait(left, "the delayed check; you may interrupt: the same command continues")
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-cmd.Context().Done():
		}
		timer.Stop()
		progress.clear()
		if cmd.Context().Err() != nil {
			return inconclusive(fmt.Errorf("the delayed check of %s is due at %s", report.Plain(e.ID), a.Run.Due.Format("2006-01-02 15:04 UTC")), hint)
		}
	}
	switch err := r.CheckAdmission(cmd.Context(), a, e, prover, policy, w.random); {
	case errors.Is(err, registry.ErrTwoFaced):
		fmt.Fprintf(w.out, "delayed check: %s\n               the same command begins with a new certification\n%s", strings.ReplaceAll(report.PlainLines(err.Error()), "\n", "\n               "),
			formatLetter(registry.DelayedLetter(e.ID, err, r.Policy.Operator), r.reportOf(e, a.Run)))
		return exitWith(exitNotCertified)
	case err != nil:
		return inconclusive(fmt.Errorf("delayed check of %s: %w", report.Plain(e.ID), err), hint)
	}
	fmt.Fprintf(w.out, "delayed check: passed on %s\n", a.Checked.Format("2006-01-02 15:04 UTC"))
	return nil
}

// conclude signs what follows from an admission, writes the patch, and says what the nights need.
func (r registryDir) conclude(w environment, h *registry.History, a *registry.Admission, e registry.Entry, patch []registry.Operation, flags admitFlags) error {
	if _, err := r.Publish(h, r.key, version()); err != nil {
		return historyError(err)
	}
	fmt.Fprintf(w.out, "certificate:   %s, with trust mark and badge\n", r.Dir.Public(e.ID))
	if len(patch) == 0 {
		fmt.Fprintln(w.out, "patch:         none, the registry document has the entry")
	} else {
		text, err := json.MarshalIndent(patch, "", "  ")
		if err != nil {
			return internal(err)
		}
		path := strings.TrimSuffix(r.Dir.Admission(e.ID), ".json") + ".patch.json"
		if err := registry.WriteFile(path, 0o644, append(text, '\n')); err != nil {
			return usage(err, "name a directory that can be written")
		}
		fmt.Fprintf(w.out, "patch:         %s (RFC 6902), for the registry document; apply it\n               before the next rin registry run, which withdraws a node without an entry\n", path)
	}
	if a.Method == registry.ByClient && flags.secret != "" && r.Policy.For(e.ID).Client.ID != a.ClientID {
		fmt.Fprintf(w.out, "\nfor the nightly runs, write below nodes in %s:\n%s", r.Dir.Policy(), clientLines(a, e, flags.secret))
	}
	return nil
}

func methodOf(name string) (registry.Method, error) {
	for _, m := range registry.Methods() {
		if string(m) == name {
			return m, nil
		}
	}
	return "", usage(fmt.Errorf("--control: expected client, well-known or dns, got %.40q", name), "see rin registry admit --help")
}

// entryText returns the entry in a file, or the entry of the registry document with that id.
func entryText(w environment, entry string, d registry.Document) ([]byte, error) {
	if _, known := d.Find(entry); known {
		found, err := probe.FindEntry(d.Text, entry)
		return found.Raw, err
	}
	if info, err := os.Stat(entry); err == nil && info.Size() > 1<<20 {
		return nil, usage(fmt.Errorf("%s has more than a megabyte", entry), "name a file with one registry entry")
	}
	text, err := w.readFile(entry)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		ids := []string{}
		for _, e := range d.Entries {
			ids = append(ids, report.Plain(e.ID))
		}
		return nil, usage(fmt.Errorf("there is no file %s, and the registry document has no entry with that id, only %s", entry, evidence.ShortList(ids, 8)), "name a file with the registry entry of the new node, or an id of the registry document")
	case err != nil:
		return nil, usage(err, "name a file with the registry entry, or the id of an entry of the registry document")
	}
	return text, nil
}

// absolutePlace checks the place of a secret on the command line, and makes the path in file:PATH absolute: here it is relative to the working
// directory, in registry.yaml to the directory of the registry. Standard input is not a place, because nightly runs read the secret again.
func absolutePlace(place string) (string, error) {
	kind, rest, _ := strings.Cut(place, ":")
	switch {
	case place == "" || kind == "env" && rest != "" || kind == "exec" && rest != "":
		return place, nil
	case kind == "file" && rest != "":
		full, err := filepath.Abs(rest)
		return "file:" + full, err
	case place == "-":
		return "", usage(errors.New("--client-secret: expected env:NAME, file:PATH or exec:COMMAND, got - (standard input)"), "put the secret where the nightly runs can read it again, and name that place")
	}
	return "", usage(errors.New("--client-secret: expected env:NAME, file:PATH or exec:COMMAND, got something else, which is not shown because it may be a secret"), "put the secret into a file or an environment variable, and name that place")
}

// formatLetter indents a letter, below a line that says to whom to send it and which files to enclose.
func formatLetter(letter string, enclosed ...string) string {
	with := ""
	if len(enclosed) > 0 {
		with = ", with the file " + strings.Join(enclosed, " and ")
	}
	return "\nsend this to the node's operator" + with + ":\n\n" + indent(letter)
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

// newProver returns a prover that looks for proofs of control by HTTP and DNS. It follows no redirects, because they may lead away from the node.
func newProver(authorities []byte) (registry.Prover, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxResponseHeaderBytes = maxReplyHeader
	transport.DisableKeepAlives = true
	if len(authorities) > 0 {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(authorities) {
			return registry.Prover{}, errors.New("cacert in registry.yaml holds no certificate in PEM")
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	client := &http.Client{Transport: transport, Timeout: target.DefaultTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	do := func(req *http.Request) (int, []byte, error) {
		answer, err := client.Do(req)
		if err != nil {
			return 0, nil, err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(io.LimitReader(answer.Body, registry.MaxReply))
		return answer.StatusCode, body, err
	}
	return registry.Prover{
		Token: func(ctx context.Context, at, id, secret string) (string, int, error) {
			form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(form.Encode()))
			if err != nil {
				return "", 0, err
			}
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set("Accept", "application/json")
			status, body, err := do(req)
			var members map[string]json.RawMessage // a struct would match member names in any case
			var token string
			if err == nil && json.Unmarshal(body, &members) == nil {
				_ = json.Unmarshal(members["access_token"], &token)
			}
			return token, status, err
		},
		Get: func(ctx context.Context, at string, header map[string]string) (int, []byte, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
			if err != nil {
				return 0, nil, err
			}
			for name, value := range header {
				req.Header.Set(name, value)
			}
			return do(req)
		},
		TXT: func(ctx context.Context, name string) ([]string, error) {
			ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			return net.DefaultResolver.LookupTXT(ctx, name)
		},
	}, nil
}
