package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/sandbox/control"
)

// clockFlags holds the flags and arguments of rin sandbox clock. At most one move is given.
type clockFlags struct {
	to           controlTarget
	moves        []string // arguments, such as "+30d" or "2027-01-31"
	untilExpiry  bool
	untilClosing bool
	help         bool
}

func clockCommand(w environment) *cobra.Command {
	var flags clockFlags
	cmd := &cobra.Command{
		Use:   "clock [+DURATION | -DURATION | TIME]",
		Short: "Show or move the time",
		Long: `Clock shows the time of a running sandbox, or moves it for all nodes: it decides
when tokens expire and running calls close. Durations: 90s, 5m, 24h, 30d.
Times: 2027-01-31 or 2027-01-31T23:59:30Z.`,
		Example: `  rin sandbox clock                          what time is it?
  rin sandbox clock --until-expiry           all tokens issued until now expire
  rin sandbox clock --until-closing          the next running call closes
  rin sandbox clock +30d
  rin sandbox clock -1h                      an hour back
  rin sandbox reset                          the real time again`,
		// -1h looks like a flag, so the command parses its flags itself.
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.parse(cmd, args); err != nil {
				return err
			}
			if flags.help {
				return cmd.Help()
			}
			return flags.run(cmd, w)
		},
	}
	flags.to.register(cmd.Flags())
	cmd.Flags().BoolVar(&flags.untilExpiry, "until-expiry", false, "move to when every token issued until now has expired")
	cmd.Flags().BoolVar(&flags.untilClosing, "until-closing", false, "move to when the first of the running calls closes")
	cmd.Flags().BoolVarP(&flags.help, "help", "h", false, "help for clock")
	return cmd
}

// parse separates moves such as -1h from the flags and parses the flags. It refuses more than one move.
func (f *clockFlags) parse(cmd *cobra.Command, args []string) error {
	signedNumber := regexp.MustCompile(`^[+-][0-9.]`)
	var rest []string
	for _, arg := range args {
		if signedNumber.MatchString(arg) {
			f.moves = append(f.moves, arg)
		} else {
			rest = append(rest, arg)
		}
	}
	cmd.Flags().AddFlagSet(cmd.InheritedFlags())
	if err := cmd.Flags().Parse(rest); err != nil {
		return err
	}
	f.moves = append(f.moves, cmd.Flags().Args()...)
	moves := slices.Clone(f.moves)
	if f.untilExpiry {
		moves = append(moves, "--until-expiry")
	}
	if f.untilClosing {
		moves = append(moves, "--until-closing")
	}
	if len(moves) > 1 {
		return usage(fmt.Errorf("expected one move of the clock, got %s", strings.Join(moves, " ")), "give one of them")
	}
	return nil
}

func (f *clockFlags) run(cmd *cobra.Command, w environment) error {
	c, err := f.to.client(cmd.Context(), w)
	if err != nil {
		return err
	}
	now, err := f.readOrMove(c)
	if err != nil {
		return controlError(err)
	}
	return writeClock(w.out, now)
}

// readOrMove moves the clock, or only reads it without a move. It returns the time afterwards.
func (f *clockFlags) readOrMove(c control.Client) (control.Clock, error) {
	switch {
	case f.untilExpiry:
		return c.Move(control.Move{Until: control.Expiry})
	case f.untilClosing:
		return c.Move(control.Move{Until: control.Closing})
	case len(f.moves) == 0:
		return c.Clock()
	}
	move, err := readMove(f.moves[0])
	if err != nil {
		return control.Clock{}, err
	}
	return c.Move(move)
}

// readMove parses a date, a time (RFC 3339), or a duration that may be in days.
func readMove(text string) (control.Move, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if to, err := time.Parse(layout, text); err == nil {
			return control.Move{To: to}, nil
		}
	}
	if by, err := time.ParseDuration(text); err == nil {
		return control.Move{By: by.String()}, nil
	}
	if by, err := parseDays(text); err == nil {
		return control.Move{By: by.String()}, nil
	}
	return control.Move{}, usage(fmt.Errorf("%q is not a move of the clock", text), "write a sign, a number and a unit, +90s, +30d, -1h, or a time, 2027-01-31")
}

// parseDays parses a whole number of days, such as "+30d", which [time.ParseDuration] does not know.
func parseDays(text string) (time.Duration, error) {
	number, ok := strings.CutSuffix(text, "d")
	if !ok {
		return 0, fmt.Errorf("expected a number of days, got %q", text)
	}
	n, err := strconv.ParseInt(number, 10, 16) // 16 bits are 90 years; more could overflow a duration
	return time.Duration(n) * 24 * time.Hour, err
}

// writeClock prints the time and how far it was moved.
func writeClock(out io.Writer, now control.Clock) error {
	offset, err := time.ParseDuration(now.Offset)
	if err != nil {
		return fmt.Errorf("read the offset of the clock: %w", err)
	}
	moved := "not moved"
	switch {
	case offset > 0:
		moved = "moved by " + evidence.Duration(offset)
	case offset < 0:
		moved = "moved back by " + evidence.Duration(-offset)
	}
	_, err = fmt.Fprintf(out, "%s (%s)\n", now.Now.Format(time.RFC3339), moved)
	return err
}
