package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox/recording"
)

// recordFlags hold the flags of the commands that read a real node.
type recordFlags struct {
	node      nodeFlags
	values    []string
	limits    recording.Limits
	source    sourceLimits
	megabytes int
}

// groups returns the flags in the groups that help shows.
func (r *recordFlags) groups() []flagGroup {
	return []flagGroup{
		{"The node", func(f *pflag.FlagSet) {
			r.node.registerURLs(f, "with --registry")
			r.node.registerTrust(f)
		}},
		{"Credentials (a secret is env:NAME, file:PATH or - for standard input)", r.node.registerClient},
		{"What is read", func(f *pflag.FlagSet) {
			r.limits = recording.DefaultLimits()
			f.IntVar(&r.limits.Records, "max-records", r.limits.Records, "records of each list")
			f.IntVar(&r.source.requests, "max-requests", 5000, "requests of the whole run, repeats included")
			f.IntVar(&r.megabytes, "max-megabytes", 256, "megabytes of all answers")
			f.StringArrayVar(&r.values, "value", nil, "NAME=VALUE: a value for a parameter of that name, if the node's lists do not give one; may be repeated")
		}},
		{"Politeness", func(f *pflag.FlagSet) {
			f.Float64Var(&r.node.target.Politeness.Rate, "rate", 0, "requests a second, one at a time (default 4; no limit on loopback)")
			f.DurationVar(&r.node.target.Politeness.Timeout, "timeout", 0, "time for one request (default 35s)")
		}},
	}
}

// read returns the node and the values of parameters.
func (r *recordFlags) read(w environment) (t target.Target, values map[string]string, err error) {
	t = r.node.target
	t.Profile = "api"
	if t.Credentials, err = r.node.first.read(w, "--client-id", "--client-secret", &stdinOnce{from: w.in}); err != nil {
		return t, nil, err
	}
	if err = r.node.readFiles(w, &t); err != nil {
		return t, nil, err
	}
	values = map[string]string{}
	for _, text := range r.values {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" || value == "" {
			return t, nil, usage(fmt.Errorf("--value: expected NAME=VALUE, got %.60q", text), "name a parameter of the document and a value that exists, such as --value year=2026")
		}
		values[name] = value
	}
	if r.limits.Records < 1 || r.source.requests < 1 || r.megabytes < 1 || r.megabytes > 2048 {
		return t, nil, usage(errors.New("--max-records, --max-requests and --max-megabytes: expected more than 0, and at most 2048 megabytes"), "leave them out for the defaults")
	}
	r.source.bytes = int64(r.megabytes) << 20
	checked := t.Defaults()
	if t.Registry == "" && len(t.RegistryDocument) == 0 && t.SpecURL == "" && t.InfoURL != "" {
		checked.SpecURL = t.InfoURL // the URL of the document may follow from the info URL
	}
	if err = checked.Validate(); err != nil {
		return t, nil, usage(err, "see rin sandbox record --help")
	}
	return t, values, nil
}

// crawl reads the node. The document of the recording is used, if it has one, and that of the node otherwise.
func (r *recordFlags) crawl(ctx context.Context, w environment, s *recordSource, to *recording.Recording) error {
	if to.Document == nil {
		to.Document = s.document
	}
	if err := s.useDocument(to.Document); err != nil {
		return err
	}
	announced, calls := "", 0
	err := recording.Crawl(ctx, to, s.fetch, func(operation string, records int) {
		if calls++; operation != announced || calls%25 == 0 {
			fmt.Fprintf(w.err, "%s: %s, %s so far\n", report.Plain(operation), evidence.Count(records, "record"), evidence.Count(s.sender.Sent(), "request"))
		}
		announced = operation
	})
	var explained *exitError
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return &exitError{code: exitInconclusive, err: errors.New("interrupted; no folder was written"), hint: "run it again"}
	case errors.As(err, &explained):
		return err
	default:
		return &exitError{code: exitInconclusive, err: err, hint: "is the document the one of this node?"}
	}
	to.Node, to.Recorded, to.By = s.recordedNode(), w.now(), "rin "+version()
	return nil
}

func recordCommand(w environment) *cobra.Command {
	var flags recordFlags
	var folder, keyPlace string
	var keep bool
	cmd := &cobra.Command{
		Use:   "record",
		Short: "Read a real node into a folder, to replay it offline",
		Long: `Record reads all that the GET operations of a real node's document answer to
your client: lists to their end, the details of their records, other answers.
It leaves a folder from which rin sandbox --replay serves the same records.

Mail addresses, names of persons, telephone numbers and tokens are replaced by
made-up values, which fit the document; equal values get equal replacements.
The folder also has the key of these values, redaction.json, which only rin
sandbox drift needs: remove it before you pass the folder on.

A run that was interrupted continues when you give the same command again: the
answers until then are kept, unredacted, in a hidden file beside the folder.

It reads one answer after the other, 4 a second, and waits when the node says
so. It sends the token to the origins that you name, and nowhere else.`,
		Example: `  rin sandbox record --registry https://registry.example/ris.json --node XA \
      --client-id my-client --client-secret env:MY_SECRET -o xa
  rin sandbox record --token-url https://sso.example/oauth/token \
      --info-url https://api.example/ris/info/v1/oauth/info/ \
      --client-id my-client --client-secret env:MY_SECRET --max-records 200
  rin sandbox --replay xa                        the same records, offline
  rin sandbox --replay xa --scenario 503-twice   and with faults
  rin sandbox drift xa ...                       what the node answers today`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t, values, err := flags.read(w)
			if err != nil {
				return err
			}
			if err := recording.CheckVacant(folder); err != nil {
				return usage(fmt.Errorf("--output: %w", err), "name a new folder")
			}
			redactor, err := newRedactor(w, keep, keyPlace)
			if err != nil {
				return err
			}
			s, err := openSource(cmd.Context(), w, t, flags.source)
			if err != nil {
				return err
			}
			defer s.sender.Close()
			if err := s.resume(folder); err != nil {
				return err
			}
			r := &recording.Recording{Limits: flags.limits, Values: values}
			if err := flags.crawl(cmd.Context(), w, s, r); err != nil {
				return s.suspend(err)
			}
			if redactor != nil {
				if err := s.redact(redactor, r); err != nil {
					return s.suspend(err)
				}
			}
			if r.Records() == 0 && countAnswers(r) == 0 {
				writeNotes(w.err, r.Notes)
				_ = s.partial.Remove() // it has nothing of use
				return &exitError{code: exitInconclusive, err: errors.New("the node gave no record; nothing was written"), hint: "rin tour shows its answers"}
			}
			if err := r.Write(folder, redactor); err != nil {
				return s.suspend(usage(fmt.Errorf("--output: %w", err), "name a new folder in a directory that can be written"))
			}
			if err := s.partial.Remove(); err != nil {
				return internal(err)
			}
			return writeRecorded(w.out, folder, r, s.sender.Sent())
		},
	}
	setFlagGroups(cmd, append(flags.groups(), flagGroup{"The folder", func(f *pflag.FlagSet) {
		f.StringVarP(&folder, "output", "o", "rin-recording", "`folder` to make; only you can read it")
		f.BoolVar(&keep, "keep", false, "keep mail addresses, names of persons, telephone numbers and tokens")
		f.StringVar(&keyPlace, "redaction-key", "", "make up the same values as another recording: its redaction.json as file:PATH, or a key in env:NAME")
	}}))
	cmd.MarkFlagsMutuallyExclusive("keep", "redaction-key")
	return cmd
}

// resume opens the answers of a run that was interrupted.
func (s *recordSource) resume(folder string) (err error) {
	if s.partial, err = recording.OpenPartial(folder, s.identity(), s.w.now()); err != nil {
		return usage(fmt.Errorf("--output: %w", err), "name a new folder in a directory that can be written")
	}
	if n, began := s.partial.Progress(); n > 0 {
		fmt.Fprintf(s.w.err, "continues the run of %s after %s (to begin again, remove %s)\n", began.UTC().Format(time.RFC3339), evidence.Count(n, "answer"), s.partial.Path())
	}
	return nil
}

// suspend closes the file of answers, and adds to the hint of an error that the next run continues there.
func (s *recordSource) suspend(err error) error {
	n, _ := s.partial.Progress()
	if closing := s.partial.Close(); closing != nil {
		return internal(closing)
	}
	var explained *exitError
	if n == 0 || !errors.As(err, &explained) {
		return err
	}
	out := *explained
	out.hint = strings.TrimSpace(out.hint + fmt.Sprintf("; the same command continues after %s, which are kept unredacted in %s", evidence.Count(n, "answer"), s.partial.Path()))
	return &out
}

// newRedactor returns the redactor of a new recording; nil if it keeps everything.
func newRedactor(w environment, keep bool, keyPlace string) (*recording.Redactor, error) {
	if keep {
		return nil, nil
	}
	if keyPlace == "" {
		key, err := recording.NewKey(w.random)
		if err != nil {
			return nil, internal(err)
		}
		return recording.NewRedactor(key), nil
	}
	text, err := readSecret(w, "--redaction-key", keyPlace, &stdinOnce{from: w.in})
	if err != nil {
		return nil, err
	}
	key, err := recording.ReadKey([]byte(text.Reveal()))
	if err != nil {
		return nil, usage(fmt.Errorf("--redaction-key: %w", err), "name the redaction.json of the other recording: file:xa/redaction.json")
	}
	return recording.NewRedactor(key), nil
}

// redact redacts a recording that the source has read.
func (s *recordSource) redact(redactor *recording.Redactor, r *recording.Recording) error {
	for _, secret := range append(slices.Clone(s.tokens), s.target.Credentials.ClientSecret.Reveal()) {
		redactor.AddSecret(secret)
	}
	if err := redactor.Redact(r); err != nil {
		return internal(err)
	}
	return nil
}

func countAnswers(r *recording.Recording) int {
	n := 0
	for _, o := range r.Operations {
		n += len(o.Answers)
	}
	return n
}

// writeRecorded lists what the folder holds, and what was left out.
func writeRecorded(out io.Writer, folder string, r *recording.Recording, requests int) error {
	var b strings.Builder
	fmt.Fprintf(&b, "recorded %s in %s, with %s\n\n", cmp.Or(r.Node.ID, r.Node.InfoURL), folder, evidence.Count(requests, "request"))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, o := range r.Operations {
		if o.Records() == 0 && len(o.Answers) == 0 && len(o.Lists) == 0 {
			continue
		}
		text := evidence.Count(o.Records(), "record")
		if n := o.Details(); n > 0 {
			text += ", " + evidence.Count(n, "detail")
		}
		if len(o.Lists) == 0 {
			text = evidence.Count(len(o.Answers), "answer")
		}
		if o.Invalid > 0 {
			text += fmt.Sprintf(", %d not as the document says: %s", o.Invalid, report.Plain(evidence.Clip(o.FirstInvalid, 200)))
		}
		fmt.Fprintf(t, "  %s\t%s\n", report.Plain(o.Name), text)
	}
	_ = t.Flush()
	writeNotes(&b, r.Notes)
	if r.Redacted {
		b.WriteString("\n  Mail addresses, names of persons, telephone numbers and tokens are made up.\n")
	} else {
		b.WriteString("\n  Nothing was redacted: the folder may hold personal data.\n")
	}
	fmt.Fprintf(&b, "\nrin sandbox --replay %s\n", evidence.ShellWord(folder))
	_, err := io.WriteString(out, b.String())
	return err
}

// writeNotes lists what was left out.
func writeNotes(out io.Writer, notes []recording.Note) {
	if len(notes) == 0 {
		return
	}
	fmt.Fprintln(out, "\n  Left out:")
	const limit = 50
	for _, n := range notes[:min(len(notes), limit)] {
		fmt.Fprintln(out, report.Hang("  - ", report.Plain(strings.TrimSpace(n.Operation+" "+n.Text)), helpWidth))
	}
	if more := len(notes) - limit; more > 0 {
		fmt.Fprintf(out, "  and %d more in recording.json\n", more)
	}
}

func driftCommand(w environment) *cobra.Command {
	var flags recordFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "drift FOLDER",
		Short: "Say what a recorded node answers differently today",
		Long: `Drift reads a node again as rin sandbox record did, and compares its answers
with a recording by record and member: what is gone, new or changed, and whether
the document has changed. What was redacted is redacted in the same way before
it is compared. Values are not printed.

It ends with 0 when nothing differs, with 1 when something does, with 3 when the
node cannot be read.`,
		Example: `  rin sandbox drift xa --registry https://registry.example/ris.json --node XA \
      --client-id my-client --client-secret env:MY_SECRET
  rin sandbox drift xa --json ... | jq '.differences[].record'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(fmt.Errorf("expected the folder of a recording, got %s", evidence.Count(len(args), "argument")), "rin sandbox drift FOLDER, with the node as for rin sandbox record")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			before, err := openRecording(args[0], "")
			if err != nil {
				return err
			}
			var redactor *recording.Redactor
			if before.Redacted {
				if redactor, err = recording.OpenRedactor(args[0]); err != nil {
					return recordingError(err, "")
				}
			}
			t, values, err := flags.read(w)
			if err != nil {
				return err
			}
			s, err := openSource(cmd.Context(), w, t, flags.source)
			if err != nil {
				return err
			}
			defer s.sender.Close()
			limits := flags.limits
			if !cmd.Flags().Changed("max-records") && before.Limits.Records > 0 {
				limits.Records = before.Limits.Records
			}
			if len(flags.values) == 0 {
				values = before.Values
			}
			after := &recording.Recording{Document: before.Document, Limits: limits, Values: values}
			if err := flags.crawl(cmd.Context(), w, s, after); err != nil {
				return err
			}
			if redactor != nil {
				if err := s.redact(redactor, after); err != nil {
					return err
				}
			}
			after.Document = s.document
			found, err := recording.Compare(before, after)
			if err != nil {
				return internal(err)
			}
			return writeDrift(w.out, recording.NewReport(before, after, found), asJSON)
		},
	}
	setFlagGroups(cmd, append(flags.groups(), flagGroup{"The result", func(f *pflag.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "as JSON")
	}}))
	return cmd
}

// writeDrift prints what differs.
func writeDrift(out io.Writer, r recording.Report, asJSON bool) error {
	var b strings.Builder
	if asJSON {
		text, err := r.JSON()
		if err != nil {
			return internal(err)
		}
		b.Write(text)
	} else {
		fmt.Fprintf(&b, "recorded %s, compared %s: %s\n", r.Recorded, r.Compared, evidence.Count(len(r.Differences), "difference"))
		for _, d := range r.Differences {
			text := d.Operation
			if d.Path != "" && "GET "+d.Path != d.Operation {
				text += " at " + d.Path
			}
			if d.Record != "" {
				text += " record " + d.Record
			}
			if len(d.Members) > 0 {
				text += ": " + strings.Join(d.Members, ", ")
			}
			fmt.Fprintln(&b, report.Hang(fmt.Sprintf("  %-8s ", d.Change), report.Plain(text), helpWidth))
		}
		writeNotes(&b, r.Notes)
	}
	if _, err := io.WriteString(out, b.String()); err != nil {
		return err
	}
	if r.Drifted {
		return exitWith(exitNotCertified)
	}
	return nil
}

// openRecording reads a recording that a flag or an argument names.
func openRecording(folder, flag string) (*recording.Recording, error) {
	r, err := recording.Open(folder)
	if err != nil {
		return nil, recordingError(err, flag)
	}
	return r, nil
}

func recordingError(err error, flag string) error {
	hint := ""
	var damage *recording.Damage
	if errors.As(err, &damage) {
		hint = damage.Hint
	}
	if flag != "" {
		err = fmt.Errorf("%s: %w", flag, err)
	}
	return usage(err, hint)
}
