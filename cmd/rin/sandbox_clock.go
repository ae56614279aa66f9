package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/sandbox/control"
)

// clockFlags hold the flags of rin sandbox clock.
type clockFlags struct {
	to          controlTarget
	by          []string
	untilExpiry bool
	untilClose  bool
	help        bool
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
	cmd.Flags().BoolVar(&flags.untilClose, "until-closing", false, "move to when the first of the running calls closes")
	cmd.Flags().BoolVarP(&flags.help, "help", "h", false, "help for clock")
	return cmd
}

func (f *clockFlags) parse(cmd *cobra.Command, args []string) error {
	move := regexp.MustCompile(`^[+-][0-9.]`)
	var rest []string
	for _, arg := range args {
		if move.MatchString(arg) {
			f.by = append(f.by, arg)
		} else {
			rest = append(rest, arg)
		}
	}
	cmd.Flags().AddFlagSet(cmd.InheritedFlags())
	if err := cmd.Flags().Parse(rest); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			f.help = true
			return nil
		}
		return err
	}
	f.by = append(f.by, cmd.Flags().Args()...)
	moves := slices.Clone(f.by)
	if f.untilExpiry {
		moves = append(moves, "--until-expiry")
	}
	if f.untilClose {
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

func (f *clockFlags) readOrMove(c control.Client) (control.Clock, error) {
	switch {
	case f.untilExpiry:
		return c.Move(control.Move{Until: control.Expiry})
	case f.untilClose:
		return c.Move(control.Move{Until: control.Closing})
	case len(f.by) == 0:
		return c.Clock()
	}
	move, err := readMove(f.by[0])
	if err != nil {
		return control.Clock{}, err
	}
	return c.Move(move)
}

// readMove parses a time, or a duration that may be in days.
func readMove(text string) (control.Move, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if to, err := time.Parse(layout, text); err == nil {
			return control.Move{To: to}, nil
		}
	}
	by, err := time.ParseDuration(text)
	if days, inDays := strings.CutSuffix(text, "d"); err != nil && inDays {
		var n int64
		if n, err = strconv.ParseInt(days, 10, 16); err == nil {
			by = time.Duration(n) * 24 * time.Hour
		}
	}
	if err != nil {
		return control.Move{}, usage(fmt.Errorf("%q is not a move of the clock", text), "write a sign, a number and a unit, +90s, +30d, -1h, or a time, 2027-01-31")
	}
	return control.Move{By: by.String()}, nil
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
