package bus_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/earshot-dev/earshot/internal/bus"
)

// attack is one known way to make a message appear on a subject that one may not
// publish to. On an open bus each of them works, which TestAttacksWorkOnAnOpenBus
// shows; on ours none does.
type attack struct {
	name string
	// stage prepares an open bus for it, with every right.
	stage func(t *testing.T, nc *nats.Conn)
	run   func(nc *nats.Conn, op, aim string)
}

func attacks() []attack {
	return []attack{
		{name: "publish directly", run: func(nc *nats.Conn, _, aim string) {
			send(nc, aim, "", "forged")
		}},
		{name: "publish directly with headers", run: func(nc *nats.Conn, _, aim string) {
			_ = nc.PublishMsg(&nats.Msg{Subject: aim, Header: nats.Header{"CG-Agent-Id": {"worker"}}, Data: []byte("forged")})
		}},
		{name: "name it as the reply subject of a request", run: func(nc *nats.Conn, op, aim string) {
			send(nc, opSubject(op), aim, "forged")
		}},
		{name: "name it as the destination of a trace", run: func(nc *nats.Conn, op, aim string) {
			_ = nc.PublishMsg(&nats.Msg{Subject: opSubject(op), Header: nats.Header{"Nats-Trace-Dest": {aim}}, Data: []byte("forged")})
		}},
		{name: "name it as the destination of a trace alone", run: func(nc *nats.Conn, op, aim string) {
			_ = nc.PublishMsg(&nats.Msg{Subject: opSubject(op), Header: nats.Header{"Nats-Trace-Dest": {aim}, "Nats-Trace-Only": {"true"}}, Data: []byte("forged")})
		}},
		{name: "reply to a discovery request", stage: answerDiscovery, run: func(nc *nats.Conn, _, aim string) {
			for _, verb := range []string{"PING", "INFO", "STATS"} {
				send(nc, "$SRV."+verb, aim, "")
				send(nc, "$SRV."+verb+".kernel", aim, "")
			}
		}},
		{name: "reply to a system request", run: func(nc *nats.Conn, _, aim string) {
			send(nc, "$SYS.REQ.USER.INFO", aim, "")
			send(nc, "$SYS.REQ.SERVER.PING", aim, "")
		}},
		{name: "reply to account information", run: func(nc *nats.Conn, _, aim string) {
			send(nc, "$JS.API.INFO", aim, "")
		}},
		{name: "reply to a list of streams", run: func(nc *nats.Conn, _, aim string) {
			send(nc, "$JS.API.STREAM.NAMES", aim, "")
			send(nc, "$JS.API.STREAM.LIST", aim, "")
			send(nc, "$JS.API.STREAM.INFO.other", aim, "")
		}},
		{name: "reply to a stored message", run: func(nc *nats.Conn, _, aim string) {
			send(nc, "$JS.API.STREAM.MSG.GET.other", aim, `{"seq":1}`)
		}},
		{name: "reply to a direct get", run: func(nc *nats.Conn, _, aim string) {
			send(nc, "$JS.API.DIRECT.GET.other", aim, `{"seq":1}`)
			send(nc, "$JS.API.DIRECT.GET.other."+broadcast, aim, "")
		}},
		{name: "reply to a pull", run: func(nc *nats.Conn, _, aim string) {
			send(nc, "$JS.API.CONSUMER.MSG.NEXT.other.pull", aim, "1")
		}},
		{name: "reply to a publish acknowledgement", run: func(nc *nats.Conn, _, aim string) {
			send(nc, "earshot.v1.home.events.x", aim, "forged")
		}},
		{name: "stream that republishes", run: func(nc *nats.Conn, op, aim string) {
			send(nc, "$JS.API.STREAM.CREATE.evil", "", fmt.Sprintf(`{"name":"evil","subjects":[%q],"republish":{"src":%q,"dest":%q}}`, opSubject(op), opSubject(op), aim))
			flush(nc)
			send(nc, opSubject(op), "", "forged")
		}},
		{name: "stream altered to republish", run: func(nc *nats.Conn, op, aim string) {
			send(nc, "$JS.API.STREAM.CREATE.late", "", fmt.Sprintf(`{"name":"late","subjects":[%q]}`, opSubject(op)))
			flush(nc)
			send(nc, "$JS.API.STREAM.UPDATE.late", "", fmt.Sprintf(`{"name":"late","subjects":[%q],"republish":{"src":%q,"dest":%q}}`, opSubject(op), opSubject(op), aim))
			flush(nc)
			send(nc, opSubject(op), "", "forged")
		}},
		{name: "push consumer that delivers there", run: func(nc *nats.Conn, _, aim string) {
			send(nc, "$JS.API.CONSUMER.DURABLE.CREATE.other.evil", "", fmt.Sprintf(
				`{"stream_name":"other","config":{"durable_name":"evil","deliver_subject":%q,"ack_policy":"none","deliver_policy":"all"}}`, aim))
			send(nc, "$JS.API.CONSUMER.CREATE.other", "", fmt.Sprintf(
				`{"stream_name":"other","config":{"deliver_subject":%q,"ack_policy":"none","deliver_policy":"all"}}`, aim))
		}},
		{name: "key-value bucket that republishes", run: func(nc *nats.Conn, _, aim string) {
			send(nc, "$JS.API.STREAM.CREATE.KV_evil", "", fmt.Sprintf(
				`{"name":"KV_evil","subjects":["$KV.evil.>"],"max_msgs_per_subject":1,"allow_direct":true,"allow_rollup_hdrs":true,"republish":{"src":"$KV.evil.k","dest":%q}}`, aim))
			flush(nc)
			send(nc, "$KV.evil.k", "", "forged")
		}},
		{name: "key-value write with a reply", stage: makeBucket, run: func(nc *nats.Conn, _, aim string) {
			send(nc, "$KV.bucket.k", aim, "forged")
		}},
	}
}

func send(nc *nats.Conn, subject, reply, payload string) {
	_ = nc.PublishMsg(&nats.Msg{Subject: subject, Reply: reply, Data: []byte(payload)}) // a refusal is what we hope for
}

func flush(nc *nats.Conn) { _ = nc.FlushTimeout(patience) }

func answerDiscovery(t *testing.T, nc *nats.Conn) {
	t.Helper()
	_, err := nc.Subscribe("$SRV.>", func(m *nats.Msg) { _ = m.Respond([]byte("forged")) })
	must(t, err)
}

func makeBucket(t *testing.T, nc *nats.Conn) {
	t.Helper()
	manageOpen(t, nc, "STREAM.CREATE.KV_bucket", `{"name":"KV_bucket","subjects":["$KV.bucket.>"],"max_msgs_per_subject":1}`)
}

func manageOpen(t *testing.T, nc *nats.Conn, what, body string) {
	t.Helper()
	_, err := nc.Request("$JS.API."+what, []byte(body), patience)
	must(t, err)
}

// Without this the next tests would prove nothing: the attacks have to be real.
func TestAttacksWorkOnAnOpenBus(t *testing.T) {
	t.Parallel()
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			ns, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir()})
			must(t, err)
			ns.Start()
			t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
			nc, err := nats.Connect("", nats.InProcessServer(ns), nats.Timeout(patience))
			must(t, err)
			t.Cleanup(nc.Close)
			manageOpen(t, nc, "STREAM.CREATE.other", `{"name":"other","subjects":["earshot.v1.home.events.>"],"allow_direct":true}`)
			manageOpen(t, nc, "CONSUMER.DURABLE.CREATE.other.pull", `{"stream_name":"other","config":{"durable_name":"pull","ack_policy":"none"}}`)
			_, err = nc.Request(broadcast, []byte("stored"), patience)
			must(t, err)
			_, err = nc.Subscribe(opSubject("claim"), func(m *nats.Msg) { _ = m.Respond(m.Data) })
			must(t, err)
			heard := make(chan *nats.Msg, 64)
			_, err = nc.ChanSubscribe(filesCommand, heard)
			must(t, err)
			if a.stage != nil {
				a.stage(t, nc)
			}
			must(t, nc.FlushTimeout(patience))
			// Some attacks have steps that the server carries out in the background.
			end := time.After(patience)
			for {
				a.run(nc, "claim", filesCommand)
				select {
				case <-heard:
					return
				case <-time.After(50 * time.Millisecond):
				case <-end:
					t.Fatal("the attack does not work even on an open bus, so it proves nothing on a closed one")
				}
			}
		})
	}
}

func TestNoAttackReachesAnybody(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s)
			for _, seat := range w.seats(t) {
				nc := w.raw(t, seat.login)
				op := "claim"
				if seat.asks {
					op = bus.Ops(seat.who.Kind)[0]
				}
				for _, a := range attacks() {
					for _, aim := range w.aims(t, seat) {
						a.run(nc, op, aim)
					}
					must(t, nc.FlushTimeout(patience))
					if got := w.breaches(t, seat.login); len(got) > 0 {
						t.Errorf("%s, %s: %d messages arrived:\n\t%s", seat.name, a.name, len(got), first(got))
					}
				}
				w.checkIdentity(t, seat)
			}
			w.checkStreams(t)
			w.checkTeeth(t)
		})
	}
}

// Every subject that anybody could think of, with every reply subject that would be
// of use, by every credential.
func TestNoReplySubjectReachesAnybody(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s)
			for _, seat := range w.seats(t) {
				nc := w.raw(t, seat.login)
				subjects, replies := w.everySubject(t, seat), append(w.aims(t, seat), strangeReplies(seat)...)
				refused := refusals(t, nc, publish, subjects)
				for _, subject := range subjects {
					for _, reply := range worthTrying(replies, refused[subject]) {
						send(nc, subject, reply, "forged by "+seat.name+" on "+subject+" with reply "+reply)
					}
					must(t, nc.FlushTimeout(patience)) // the server cuts off who leaves too many refusals unread
				}
				if got := w.breaches(t, seat.login); len(got) > 0 {
					t.Errorf("%s: %d messages arrived:\n\t%s", seat.name, len(got), first(got))
				}
				w.checkIdentity(t, seat)
			}
			w.checkStreams(t)
			w.checkTeeth(t)
		})
	}
}

// worthTrying returns the reply subjects to try. A subject that is refused is refused before anybody looks at the reply
// subject, so that a few will do; with EARSHOT_SOAK=1 (make soak) it is always all.
func worthTrying(replies []string, refused bool) []string {
	if !refused || os.Getenv("EARSHOT_SOAK") != "" {
		return replies
	}
	return replies[:3]
}

// strangeReplies are reply subjects that the server treats in a way of its own, or
// that lead back into the attacker's own imports.
func strangeReplies(s seat) []string {
	replies := []string{
		"", ">", "cg.>", "_R_.forged", "_R_.forged.forged", "$JS.ACK.other.pull.1.1.1.1.1", "$JS.ACK." + filesCommand, "$JS.FC.other.pull",
		"$JS.API.STREAM.CREATE.evil", "$JS.API.STREAM.DELETE.other", "$JS.API.STREAM.PURGE.commands", "$SYS.REQ.USER.INFO", "_GR_.forged", "$GR.forged",
		filesCommand + ".$FI", s.login.Inbox + ".own",
	}
	for _, op := range bus.Ops(s.who.Kind) {
		replies = append(replies, opSubject(op))
	}
	replies = append(replies, opSubject("start"), servedSubject(files, "start"), "$SRV.PING", "$SRV.INFO.files")
	if ops := bus.Ops(s.who.Kind); len(ops) > 0 {
		replies = append(replies, servedSubject(s.who, ops[0]))
	}
	return replies
}

func servedSubject(p bus.Principal, op string) string {
	return "earshot.v1." + project + ".kernel." + string(p.Kind) + "." + p.Name + "." + op
}

func (w *world) everySubject(t *testing.T, s seat) []string {
	t.Helper()
	subjects := w.aims(t, s)
	for _, op := range allOps() {
		subjects = append(subjects, opSubject(op), opSubject(op)+".x", "earshot.v1.other.kernel."+op)
		for _, p := range everybody() {
			subjects = append(subjects, servedSubject(p, op))
		}
	}
	for _, api := range []string{
		"INFO", "STREAM.NAMES", "STREAM.LIST", "STREAM.INFO.other", "STREAM.CREATE.x", "STREAM.UPDATE.other", "STREAM.DELETE.other",
		"STREAM.PURGE.other", "STREAM.SNAPSHOT.other", "STREAM.RESTORE.x", "STREAM.MSG.GET.other", "STREAM.MSG.DELETE.other",
		"DIRECT.GET.other", "DIRECT.GET.commands." + filesCommand, "CONSUMER.CREATE.other", "CONSUMER.CREATE.other.x", "CONSUMER.DURABLE.CREATE.other.x",
		"CONSUMER.NAMES.other", "CONSUMER.LIST.other", "CONSUMER.INFO.other.pull", "CONSUMER.DELETE.other.pull", "CONSUMER.MSG.NEXT.other.pull",
		"CONSUMER.PAUSE.other.pull", "CONSUMER.UNPIN.other.pull", "META.LEADER.STEPDOWN", "SERVER.REMOVE", "ACCOUNT.PURGE.KERNEL",
	} {
		subjects = append(subjects, "$JS.API."+api, "$JS.hub.API."+api)
	}
	return append(subjects,
		"$JS.ACK.other.pull.1.1.1.1.1", "$JS.EVENT.ADVISORY.x", "$KV.bucket.k", "$O.store.C.k",
		"$SRV.PING", "$SRV.INFO", "$SRV.STATS", "$SRV.PING.kernel", "$SRV.STATS.files.1",
		"$SYS.REQ.USER.INFO", "$SYS.REQ.SERVER.PING", "$SYS.REQ.SERVER.PING.CONNZ", "$SYS.REQ.ACCOUNT.KERNEL.CONNZ", "$SYS.REQ.ACCOUNT.PING.CONNZ",
		"$SYS.REQ.CLAIMS.UPDATE", "$SYS.ACCOUNT.KERNEL.CONNECT", "$SYS.REQ.USER.AUTH",
		"_INBOX.forged", "_INBOX.>", "_R_.forged", "_GR_.forged", "$MQTT.msgs.x", ">", "cg.>", "cg.v1r4.home.public.cmd.tool.*.delete",
	)
}

// checkIdentity: whatever arrived at the kernel came under the attacker's own name,
// with an operation of its own kind.
func (w *world) checkIdentity(t *testing.T, s seat) {
	t.Helper()
	mine := map[string]bool{}
	if s.asks {
		for _, op := range bus.Ops(s.who.Kind) {
			mine[op] = true
		}
		mine[bus.OpCommand] = s.who.Kind == bus.External // what it publishes to a tool's subject goes to the kernel
	}
	got := w.takeAsked()
	if s.asks && len(got) == 0 {
		t.Errorf("%s: not one of its requests arrived; the attack did not take place", s.name)
	}
	for _, a := range got {
		if a.from != s.who || !mine[a.op] {
			t.Errorf("%s: the kernel was asked for %s by %s: %q", s.name, a.op, a.from, a.request)
		}
	}
}

// checkStreams: nothing was created, altered, removed or stored.
func (w *world) checkStreams(t *testing.T) {
	t.Helper()
	if w.streams == nil {
		return
	}
	var names struct{ Streams []string }
	decode(t, w.manage(t, "STREAM.NAMES", ""), &names)
	if fmt.Sprint(names.Streams) != "[commands other]" {
		t.Errorf("streams are %v, expected commands and other", names.Streams)
	}
	for name, subjects := range map[string]int{"commands": 8, "other": 1} {
		want := w.rounds * subjects
		if name == "other" {
			want++ // the one that addStreams stored
		}
		info := w.stream(t, name, want)
		if info.State.Messages != want || info.Config.Republish != nil || len(info.Config.Subjects) != 1 {
			t.Errorf("stream %s: %+v, expected %d messages, one subject and no republish", name, info, want)
		}
	}
	var consumers struct{ Consumers []string }
	decode(t, w.manage(t, "CONSUMER.NAMES.other", ""), &consumers)
	if fmt.Sprint(consumers.Consumers) != "[pull]" {
		t.Errorf("consumers of other are %v, expected pull", consumers.Consumers)
	}
}

type streamInfo struct {
	Config struct {
		Subjects  []string
		Republish any
	}
	State struct{ Messages int }
}

// stream returns what a stream holds once all that the kernel sent is stored: the
// server stores in the background, but in order, so by then a forgery is as well.
func (w *world) stream(t *testing.T, name string, want int) (info streamInfo) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		info = streamInfo{}
		decode(t, w.manage(t, "STREAM.INFO."+name, ""), &info)
		if info.State.Messages >= want {
			break
		}
	}
	return info
}

// checkTeeth: a forged command does arrive when it is sent with the kernel's own
// credential, so silence in this world means something.
func (w *world) checkTeeth(t *testing.T) {
	t.Helper()
	nc := w.rawKernel(t, w.server.PublisherLogin())
	for _, aim := range []string{filesCommand, victimCommand, workerDoorbell, victimDoorbell, broadcast, filesCancel, filesProgress, peerCommand, peerDoorbell} {
		send(nc, aim, "", "forged")
		must(t, nc.FlushTimeout(patience))
		if got := w.breaches(t, bus.Login{}); len(got) == 0 {
			t.Errorf("a message on %s, sent with the kernel's credential, was not noticed", aim)
		}
	}
}
