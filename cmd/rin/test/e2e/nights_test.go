//go:build e2e

package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

// nightlyRegistry is a directory of rin registry over a network of sandbox nodes.
type nightlyRegistry struct{ dir string }

// newNightlyRegistry starts a sandbox of many nodes, of which the last ones deviate, and makes a registry of them whose secrets are in files.
func newNightlyRegistry(nodes, deviating int) nightlyRegistry {
	GinkgoHelper()
	work := GinkgoT().TempDir()
	config := "addr: 127.0.0.1:0\ncontrol: 'off'\ncalls: 40\nnodes:\n" + strings.Repeat("  - {}\n", nodes-deviating) + strings.Repeat("  - {deviate: [token-cacheable]}\n", deviating)
	Expect(os.WriteFile(filepath.Join(work, "network.yaml"), []byte(config), 0o600)).To(Succeed())
	serve := exec.Command(binary, "sandbox", "--config", "network.yaml", "--credentials", "all.json")
	serve.Dir = work
	start(serve, `listening on (\S+)`, 10*time.Second)
	var all struct {
		Registry string
		Nodes    []struct {
			ID      string
			Clients []struct{ ClientID, ClientSecret string }
		}
	}
	text, err := os.ReadFile(filepath.Join(work, "all.json"))
	Expect(err).NotTo(HaveOccurred())
	Expect(json.Unmarshal(text, &all)).To(Succeed())
	Expect(all.Nodes).To(HaveLen(nodes))

	r := nightlyRegistry{filepath.Join(work, "registry")}
	out, err := r.rin(nil, "registry", "init", r.dir, "--document", all.Registry)
	Expect(err).NotTo(HaveOccurred(), out)
	Expect(os.Mkdir(filepath.Join(r.dir, "secrets"), 0o700)).To(Succeed())
	policy := "operator: https://registry.example\ndocument: " + all.Registry + "\ndefaults: {profile: auth, client-secret: 'file:secrets/{id}'}\nnodes:\n"
	for _, n := range all.Nodes {
		policy += fmt.Sprintf("  %s: {client-id: %s}\n", n.ID, n.Clients[0].ClientID)
		Expect(os.WriteFile(filepath.Join(r.dir, "secrets", n.ID), []byte(n.Clients[0].ClientSecret), 0o600)).To(Succeed())
	}
	Expect(os.WriteFile(filepath.Join(r.dir, "registry.yaml"), []byte(policy), 0o600)).To(Succeed())
	return r
}

// rin runs the binary with these variables and no others.
func (r nightlyRegistry) rin(env map[string]string, args ...string) (string, error) {
	run := exec.Command(binary, args...)
	run.Env = []string{"PATH=" + os.Getenv("PATH")}
	for name, value := range env {
		run.Env = append(run.Env, name+"="+value)
	}
	out, err := run.CombinedOutput()
	return string(out), err
}

var _ = Describe("A night on Slurm", slow, func() {
	It("is run by an array of shards and joined by a merge that depends on it, over a registry of 40 nodes", func() {
		if isMissing("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "bash") {
			Skip("Slurm is not installed (Debian: slurm-wlm, munge)")
		}
		env := startSlurm()
		r := newNightlyRegistry(40, 3)
		script, err := filepath.Abs(filepath.Join(deployFolder, "slurm", "nightly.sh"))
		Expect(err).NotTo(HaveOccurred())
		submit := exec.Command("bash", script)
		submit.Env = append(slices.Clone(env), "RIN_REGISTRY_DIR="+r.dir, "RIN="+binary, "RIN_SHARDS=5", "CANARY=must-not-reach-slurm")
		out, err := submit.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		ids := regexp.MustCompile(`night of (\S+): array (\d+) with 5 shards, merge (\d+)`).FindStringSubmatch(string(out))
		Expect(ids).To(HaveLen(4), string(out))

		show := func(id string) string {
			job := exec.Command("scontrol", "--oneliner", "show", "job", id)
			job.Env = env
			text, err := job.CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(text))
			return string(text)
		}
		Expect(show(ids[3])).To(ContainSubstring("Dependency=afterany:" + ids[2]))
		Eventually(show, "8m", "1s").WithArguments(ids[3]).Should(MatchRegexp(`JobState=(COMPLETED|FAILED|TIMEOUT|CANCELLED|NODE_FAIL)`))
		log, err := os.ReadFile(filepath.Join(r.dir, "night-"+ids[1]+".log"))
		Expect(err).NotTo(HaveOccurred())
		Expect(show(ids[3])).To(ContainSubstring("JobState=COMPLETED"), string(log))
		Expect(strings.Count(show(ids[2]), "JobState=COMPLETED")).To(Equal(5))
		Expect(string(log)).To(And(ContainSubstring("5 parts, 37 passed, 3 failed, 0 untested"), ContainSubstring("status: 37 valid, 3 uncertified")))
		Expect(filepath.Join(r.dir, "pages", "index.html")).To(BeAnExistingFile())
		parts, err := filepath.Glob(filepath.Join(r.dir, "night-"+ids[1]+"-*.log"))
		Expect(err).NotTo(HaveOccurred())
		Expect(parts).To(HaveLen(5))
	})
})

// startSlurm starts a cluster of one node on loopback, with folders of its own, and returns the environment for its commands.
func startSlurm() []string {
	GinkgoHelper()
	// munged asks for a folder that everybody may enter, and the path of a socket is short.
	dir, err := os.MkdirTemp("/tmp", "rin-slurm-")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, dir)
	Expect(os.Chmod(dir, 0o711)).To(Succeed())
	for _, name := range []string{"munge", "state", "spool"} {
		Expect(os.Mkdir(filepath.Join(dir, name), 0o755)).To(Succeed())
	}
	me, err := user.Current()
	Expect(err).NotTo(HaveOccurred())
	host, err := os.Hostname()
	Expect(err).NotTo(HaveOccurred())
	host, _, _ = strings.Cut(host, ".")
	Expect(os.WriteFile(filepath.Join(dir, "munge", "key"), bytes.Repeat([]byte("key of a test. "), 70), 0o400)).To(Succeed())
	Expect(os.WriteFile(filepath.Join(dir, "slurm.conf"), fmt.Appendf(nil, `ClusterName=rin
SlurmctldHost=%[1]s(127.0.0.1)
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge/socket
CryptoType=crypto/munge
SlurmUser=%[3]s
SlurmdUser=%[3]s
SlurmctldPort=%[4]s
SlurmdPort=%[5]s
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SchedulerParameters=sched_interval=2,bf_interval=2
PropagateResourceLimits=NONE
MailProg=/bin/true
MpiDefault=none
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=%[6]d State=UNKNOWN
PartitionName=night Nodes=%[1]s Default=YES MaxTime=INFINITE State=UP
`, host, dir, me.Username, freePort(), freePort(), runtime.NumCPU()), 0o644)).To(Succeed())

	daemon := func(program string, args ...string) *gexec.Session {
		GinkgoHelper()
		cmd := exec.Command(program, args...)
		cmd.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(dir, "slurm.conf"))
		session, err := gexec.Start(cmd, nil, nil)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { session.Terminate().Wait("20s") })
		return session
	}
	munge := filepath.Join(dir, "munge")
	authority := daemon("munged", "--foreground", "--key-file="+munge+"/key", "--socket="+munge+"/socket", "--pid-file="+munge+"/pid", "--seed-file="+munge+"/seed", "--log-file="+munge+"/log")
	Eventually(munge+"/socket", "10s").Should(BeAnExistingFile(), func() string { return string(authority.Err.Contents()) })
	controller := daemon("slurmctld", "-D", "-f", filepath.Join(dir, "slurm.conf"))
	node := daemon("slurmd", "-D", "-f", filepath.Join(dir, "slurm.conf"))
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SLURM_CONF=" + filepath.Join(dir, "slurm.conf")}
	Eventually(func() string {
		info := exec.Command("sinfo", "--noheader", "--format=%t")
		info.Env = env
		out, _ := info.CombinedOutput()
		return strings.TrimSpace(string(out))
	}, "60s", 500*time.Millisecond).Should(Equal("idle"), func() string { return string(controller.Err.Contents()) + string(node.Err.Contents()) })
	return env
}
