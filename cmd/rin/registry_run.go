package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/registry"
	"github.com/rin-network/rin/conformance/report"
)

func registryRunCommand(w environment) *cobra.Command {
	var shardText, acceptDocument string
	var acceptPause bool
	cmd := &cobra.Command{
		Use:   "run DIR",
		Short: "Test every node of the registry once in this night",
		Long: `Run certifies every node of the registry document, several side by side, each in
a child process as rin certify does. What each night showed is in the history
before it is printed. The next run of the same night continues a run that was
interrupted or killed, and tries again what could not be tested. No
night of a node is counted twice. A night begins at noon, UTC, and has the name
of the day of its evening.

A node that fails is a result, not an error. A node that is down, hangs, or has
no credentials is untested, not failed. An entry that moves to another host gets
no credentials until the node is admitted again.

A shard tests a part of the nodes and leaves it in DIR/parts, for rin registry
merge. It is given by --shard, or by the environment of Kubernetes
(JOB_COMPLETION_INDEX with JOB_COMPLETIONS), Slurm (SLURM_ARRAY_TASK_ID with
SLURM_ARRAY_TASK_MIN and _COUNT), GitLab (CI_NODE_INDEX with CI_NODE_TOTAL),
CircleCI (CIRCLE_NODE_INDEX with CIRCLE_NODE_TOTAL), Buildkite
(BUILDKITE_PARALLEL_JOB with _COUNT) or an array of AWS Batch
(AWS_BATCH_JOB_ARRAY_INDEX with AWS_BATCH_JOB_ARRAY_SIZE).

The run ends with a delayed check, 10 to 15 minutes after its last test. Each
node that passed gets four requests that share nothing with the run but the
client: one for a new token, then a protected resource without a token, with a
random one, and with the good one. A node that answers differently then has
failed. The night of a node counts after this check (delayed-check in
registry.yaml; off leaves it out).

A file DIR/stop keeps further tests and checks from starting.

Exit codes: 0 every node was run, whatever it answered; 2 usage; 3 a node was
not run, no node at all could be tested, or the night could not begin; 4
internal error.`,
		Example: `  rin registry run my-registry
  rin registry run my-registry --shard 2/8
  rin registry run my-registry --accept-document 3f1c9a0b77de`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			shard, err := shardOf(shardText, w.getenv)
			if err != nil {
				return err
			}
			r, err := openRegistry(w, args[0])
			if err != nil {
				return err
			}
			d, err := r.document(cmd.Context(), w)
			if err != nil {
				return err
			}
			if shard.N > 0 {
				return r.runShard(cmd, w, d, shard, acceptPause, acceptDocument)
			}
			h, err := r.history()
			if err != nil {
				return err
			}
			defer h.Close()
			if err := r.check(h, d, acceptPause, acceptDocument); err != nil {
				return err
			}
			sum, err := r.run(cmd, w, h, nil, d, shard)
			if err != nil {
				return err
			}
			if err := r.finish(w, h, d); err != nil {
				return err
			}
			if err := checkAnyTested(sum, r.Dir); err != nil {
				return err
			}
			return checkComplete(sum)
		},
	}
	f := cmd.Flags()
	f.StringVar(&shardText, "shard", "", "I/N: test part I of N only, for rin registry merge")
	f.BoolVar(&acceptPause, "after-pause", false, "accept that the last night was long ago: the clock is right")
	f.StringVar(&acceptDocument, "accept-document", "", "accept a registry document that lost many entries on purpose, by the first digits of its digest")
	return cmd
}

// runShard runs a part of the nodes. The history is only read, so that many shards run side by side.
func (r registryDir) runShard(cmd *cobra.Command, w environment, d registry.Document, s registry.Shard, acceptPause bool, acceptDocument string) error {
	h, err := registry.ReadHistory(r.Dir.History())
	switch {
	case errors.Is(err, fs.ErrNotExist): // the first night
	case err != nil:
		return historyError(err)
	default:
		defer h.Close()
		if err := r.check(h, d, acceptPause, acceptDocument); err != nil {
			return err
		}
	}
	part, err := r.Dir.OpenPart(s, registry.NightOf(r.Now()))
	if err != nil {
		return historyError(err)
	}
	defer part.Close()
	sum, err := r.run(cmd, w, h, part, d, s)
	if err != nil {
		return err
	}
	fmt.Fprintf(w.out, "part %d of %d is done; rin registry merge %s joins the parts\n", s.I, s.N, r.Dir)
	return checkComplete(sum)
}

// run tests the nodes and prints a line for each.
func (r registryDir) run(cmd *cobra.Command, w environment, h *registry.History, part *registry.Part, d registry.Document, s registry.Shard) (registry.Summary, error) {
	for id := range r.Policy.Nodes {
		if _, known := d.Find(id); !known {
			fmt.Fprintf(w.err, "registry.yaml names the node %s, which the registry document lacks\n", report.Plain(id))
		}
	}
	prover, err := newProver(r.CACert)
	if err != nil {
		return registry.Summary{}, usage(err, "")
	}
	progress, err := r.showProgress(cmd, w)
	if err != nil {
		return registry.Summary{}, err
	}
	r.Begin, r.Certify = progress.begin, progress.certify
	r.DelayedChecks = &registry.DelayedChecks{Prover: prover, Random: w.random, Wait: progress.wait}
	sum, err := r.Run(cmd.Context(), h, part, d, s, progress.step)
	progress.clear()
	if err != nil {
		return sum, historyError(err)
	}
	fmt.Fprintf(w.out, "night of %s: %s\n", sum.Night, resultsText(sum.Results, sum.AlreadyTested))
	if checks := progress.checks; len(checks) > 0 {
		fmt.Fprintf(w.out, "delayed check: %d passed, %d failed, %d open\n", checks[registry.CheckPassed], checks[registry.CheckFailed], checks[registry.CheckOpen])
	}
	for _, id := range sum.Skipped {
		fmt.Fprintf(w.out, "  left out    %s: %s\n", report.Plain(id), report.Plain(r.Policy.For(id).Skip))
	}
	for _, id := range sum.Left {
		fmt.Fprintf(w.out, "  not run     %s: %s\n", report.Plain(id), sum.Why)
	}
	return sum, nil
}

// checkAnyTested returns an error if no node at all could be tested: then the likely cause is this machine or its policy. It returns nil if nodes
// are left for the next run: they may have been tested, and wait for their delayed check.
func checkAnyTested(sum registry.Summary, dir registry.Dir) error {
	untested := sum.Results[registry.Untested]
	if untested == 0 || sum.Results[registry.Passed]+sum.Results[registry.Failed]+sum.AlreadyTested+len(sum.Left) > 0 {
		return nil
	}
	if sum.NoSecret == untested {
		return inconclusive(errors.New("no node at all could be tested in this night, because no client with its secret is known"),
			"name in "+dir.Policy()+" the client of each node and where its secret is; the next rin registry run of this night continues, and no certificate suffers from it")
	}
	return inconclusive(errors.New("no node at all could be tested in this night"), "check the network and the disk of this machine, and the secrets; the next rin registry run of this night tries again, and no certificate suffers from it")
}

// checkComplete returns exit code 3 if some nodes were not run.
func checkComplete(sum registry.Summary) error {
	if len(sum.Left) == 0 {
		return nil
	}
	return exitWith(exitInconclusive)
}

// shardOf returns the shard that the flag names, or else the environment of a scheduler.
func shardOf(text string, getenv func(string) (string, bool)) (registry.Shard, error) {
	if text != "" {
		i, n, _ := strings.Cut(text, "/")
		return newShard("--shard "+text, i, n, 1)
	}
	first := "1"
	if least, set := getenv("SLURM_ARRAY_TASK_MIN"); set {
		first = least
	}
	slurm, err := strconv.Atoi(first)
	if err != nil {
		return registry.Shard{}, usage(fmt.Errorf("SLURM_ARRAY_TASK_MIN: expected a number, got %.40q", first), "")
	}
	for _, scheduler := range []struct {
		index, count string
		first        int
		always       bool // the variables are set for each job, also for one without shards
	}{
		{"JOB_COMPLETION_INDEX", "JOB_COMPLETIONS", 0, false}, {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", slurm, false}, {"CI_NODE_INDEX", "CI_NODE_TOTAL", 1, false},
		{"CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", 0, true}, {"BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", 0, false},
		{"AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE", 0, false},
	} {
		i, set := getenv(scheduler.index)
		if !set {
			continue
		}
		n, set := getenv(scheduler.count)
		switch {
		case !set:
			return registry.Shard{}, usage(fmt.Errorf("%s is set, and %s is not", scheduler.index, scheduler.count), "set it to the number of shards, or give --shard I/N")
		case scheduler.always && n == "1":
			continue
		}
		return newShard(scheduler.index+" and "+scheduler.count, i, n, scheduler.first)
	}
	return registry.Shard{}, nil
}

func newShard(from, i, n string, first int) (registry.Shard, error) {
	index, errI := strconv.Atoi(i)
	count, errN := strconv.Atoi(n)
	if s := (registry.Shard{I: index - first + 1, N: count}); errI == nil && errN == nil && s.I >= 1 && s.I <= s.N && s.N <= 10_000 {
		return s, nil
	}
	return registry.Shard{}, usage(fmt.Errorf("%s: expected part I of N, got %.20q of %.20q", from, i, n), "give --shard 2/8 for part 2 of 8")
}
