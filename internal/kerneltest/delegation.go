package kerneltest

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

func delegationCases() []exercise {
	return []exercise{
		{"a crash between applied and resumed", appliedAndCrashed},
		{"a crash between a child's end and its parent", joinedAndCrashed},
		{"children that no worker takes", orphanedQueue},
		{"a queue whose worker is gone", abandonedQueue},
		{"no tasks", noTasks},
		{"one task", oneTask},
		{"too many tasks", tooManyTasks},
		{"all fail at once, and the first failure ends it", allFailAtOnce},
		{"a child that ends as soon as it has begun", endsAtOnce},
		{"the time of the batch is over before its parent's", batchDeadline},
		{"the time of the parent is over before the batch's", parentDeadline},
		{"the parent is stopped while it joins", stoppedWhileJoining},
		{"one agent several times", sameAgent},
		{"as many turns as one may have", mostChildren},
		{"nested too deeply", nestedTooDeeply},
		{"agents that ask each other", circle},
		{"bad tasks", badTasks},
	}
}

// child claims the next turn of the clerk, and says which task it is.
func (s *scene) child(name string) (w *seat, index int) {
	s.t.Helper()
	w = s.claims(clerk, name)
	return w, s.turn(w.claim.Turn).Within.Index
}

// children claims so many, by their index.
func (s *scene) children(n int) []*seat {
	s.t.Helper()
	all := make([]*seat, n)
	for i := range n {
		w, index := s.child(fmt.Sprint("wrk_child", i))
		all[index] = w
	}
	return all
}

// tasks are the statuses and codes of a batch's tasks.
func (w *seat) tasks(r api.CallResult) (all []string) {
	w.t.Helper()
	var batch struct {
		Results []struct {
			Index  int        `json:"task_index"`
			Status utp.Status `json:"status"`
			Error  struct {
				Code utp.Code `json:"code"`
			} `json:"error"`
		} `json:"results"`
	}
	if err := json.Unmarshal(r.Result.Inline, &batch); err != nil {
		w.t.Fatalf("%v: %+v", err, r)
	}
	for i, task := range batch.Results {
		if task.Index != i {
			w.t.Errorf("result %d is of task %d", i, task.Index)
		}
		all = append(all, strings.TrimSpace(string(task.Status)+" "+string(task.Error.Code)))
	}
	return all
}

// joined expects the result of a batch.
func (w *seat) joined(status utp.Status, tasks ...string) {
	w.t.Helper()
	r := w.result()
	if got := w.tasks(r); r.Status != status || strings.Join(got, ", ") != strings.Join(tasks, ", ") {
		w.t.Errorf("the batch is %s %q; want %s %q", r.Status, got, status, tasks)
	}
}

// closes ends the turn, after which none may be open.
func (w *seat) closes() {
	w.t.Helper()
	w.mustEnd(utp.StatusSuccess)
	w.noneOpen()
}

func (s *scene) noneOpen() {
	s.t.Helper()
	for _, row := range s.open() {
		s.t.Errorf("a turn of %s is %s", row.Agent, row.Status)
	}
}

// appliedAndCrashed: the result stands in the transcript when the kernel dies, and its worker has not heard of it. It gets
// it once, under the epoch that came with it.
func appliedAndCrashed(s *scene) {
	w := s.leads()
	w.calls(one(look, `{}`))
	s.mustFinish(s.mustStart(w.call(0).ID))
	s.start()
	before := w.at()
	if r := w.result(); r.Status != utp.StatusSuccess || string(r.Result.Inline) != `"done"` {
		s.t.Errorf("the result is %+v", r)
	}
	if w.claim.Epoch != before.Epoch+1 {
		s.t.Errorf("the epoch is %d after %d", w.claim.Epoch, before.Epoch)
	}
	s.start()
	if r := w.result(); r.Status != utp.StatusSuccess {
		s.t.Errorf("again, the result is %+v", r)
	}
	w.closes()
}

// isTooLate has the worker end a turn that has ended otherwise: it is no failure to say so, and changes nothing.
func (w *seat) isTooLate() {
	w.t.Helper()
	before := w.turn(w.claim.Turn).End
	w.mustEnd(utp.StatusSuccess)
	if after := w.turn(w.claim.Turn).End; before == nil || before.Status == utp.StatusSuccess || !reflect.DeepEqual(before, after) {
		w.t.Errorf("the turn had ended %+v, and now %+v", before, after)
	}
}

// joinedAndCrashed: each child ends at another kernel than it began at.
func joinedAndCrashed(s *scene) {
	w := s.leads()
	w.calls(joins(2, ""))
	for _, c := range s.children(2) {
		s.start()
		c.mustEnd(utp.StatusSuccess)
		s.start()
	}
	w.joined(utp.StatusSuccess, "success", "success")
	w.closes()
}

// orphanedQueue: the turns of an agent without workers end in time, and so does the call that waits for them.
func orphanedQueue(s *scene) {
	w := s.leads()
	w.calls(joins(2, ""))
	s.pass(31e9) // a worker may come as late after a start of the kernel
	s.pass(31e9)
	w.joined(utp.StatusTimeout, "timeout dispatch_timeout", "timeout dispatch_timeout")
	w.closes()
}

// abandonedQueue: a turn whose worker is gone keeps its place in front of those behind it.
func abandonedQueue(s *scene) {
	s.active = 1
	w := s.leads()
	w.calls(joins(2, ""))
	gone, first := s.child("wrk_gone")
	s.pass(40e9) // its lease
	again, index := s.child("wrk_1")
	if again.claim.Turn != gone.claim.Turn || index != first || again.claim.Epoch <= gone.claim.Epoch {
		s.t.Errorf("task %d was claimed under epoch %d; want %d, after epoch %d", index, again.claim.Epoch, first, gone.claim.Epoch)
	}
	s.refused(gone.ends(utp.StatusSuccess), utp.CodeStale)
	again.mustEnd(utp.StatusSuccess)
	last, _ := s.child("wrk_2")
	last.mustEnd(utp.StatusSuccess)
	w.joined(utp.StatusSuccess, "success", "success")
	w.closes()
}

func noTasks(s *scene) {
	w := s.leads()
	w.calls(joins(0, ""))
	if r := w.result(); r.Status != utp.StatusFailed || r.Code != utp.CodeBadRequest {
		s.t.Errorf("the result is %+v", r)
	}
	w.closes()
}

func oneTask(s *scene) {
	w := s.leads()
	w.calls(joins(1, ""))
	c, _ := s.child("wrk_1")
	c.mustEnd(utp.StatusFailed)
	w.joined(utp.StatusFailed, "failed internal_error")
	w.closes()
}

func tooManyTasks(s *scene) {
	w := s.leads()
	w.calls(joins(turn.MaxBatch+1, ""))
	if r := w.result(); r.Status != utp.StatusFailed || r.Code != utp.CodeBadRequest {
		s.t.Errorf("the result is %+v", r)
	}
	w.closes()
}

// allFailAtOnce: whichever is the first, it ends the call, once, and the others have been stopped.
func allFailAtOnce(s *scene) {
	const many = 8
	w := s.leads()
	w.calls(joins(many, `,"fail_fast":true`))
	var all sync.WaitGroup
	for _, c := range s.children(many) {
		all.Go(func() {
			if err := c.ends(utp.StatusFailed); err != nil {
				s.t.Error(err)
			}
		})
	}
	all.Wait()
	r := w.result()
	tasks := map[string]int{}
	for _, task := range w.tasks(r) {
		tasks[task]++
	}
	if r.Status != utp.StatusFailed || tasks["failed internal_error"] != 1 || tasks["failed internal_error"]+tasks["canceled stopped"] != many {
		s.t.Errorf("the batch is %s with %v; want one that has failed", r.Status, tasks)
	}
	w.closes()
}

// endsAtOnce: the child is known to its parent by the time that anybody can claim it, so its end finds its call.
func endsAtOnce(s *scene) {
	w := s.leads()
	w.calls(joins(2, ""))
	for i, c := range w.call(0).Batch.Children {
		if c.Turn == "" {
			s.t.Errorf("the turn of task %d is not known", i)
		}
	}
	for _, c := range s.children(2) {
		c.mustEnd(utp.StatusSuccess)
	}
	w.joined(utp.StatusSuccess, "success", "success")
	w.closes()
}

// batchDeadline: the call ends in time and its parent goes on; what a child does later changes nothing.
func batchDeadline(s *scene) {
	w := s.leads()
	w.calls(joins(2, `,"deadline_seconds":20`))
	all := s.children(2)
	all[1].mustEnd(utp.StatusSuccess)
	s.pass(21e9)
	all[0].isTooLate()
	w.joined(utp.StatusTimeout, "timeout tool_timeout", "success")
	w.closes()
}

func parentDeadline(s *scene) {
	var a api.EnqueueAnswer
	s.must(kernel.HubCaller, person, api.OpEnqueue, api.EnqueueRequest{Agent: lead, Args: jsontext.Value(`{}`), Owner: person, Deadline: 20}, &a)
	w := s.claims(lead, "wrk_lead")
	w.calls(joins(2, `,"deadline_seconds":600`))
	c, _ := s.child("wrk_1")
	s.pass(21e9)
	if st := s.turn(a.Turn); st.Status != turn.Ended || st.End.Code != utp.CodeDeadlineExceeded {
		s.t.Errorf("the parent is %s, %+v", st.Status, st.End)
	}
	c.isTooLate()
	s.noneOpen()
}

// stoppedWhileJoining: some children have ended, one works, one waits for a worker.
func stoppedWhileJoining(s *scene) {
	w := s.leads()
	w.calls(joins(3, ""))
	first, _ := s.child("wrk_1")
	first.mustEnd(utp.StatusSuccess)
	second, _ := s.child("wrk_2")
	s.stops(w.claim.Turn)
	second.isTooLate()
	if st := s.turn(w.claim.Turn); st.Status != turn.Ended || st.End.Status != utp.StatusCanceled {
		s.t.Errorf("the parent is %s, %+v", st.Status, st.End)
	}
	s.noneOpen()
}

// sameAgent: the tasks of one agent are turns of their own, and where it may have one turn under way they follow one another.
func sameAgent(s *scene) {
	s.active = 1
	w := s.leads()
	w.calls(joins(3, ""))
	for i := range 3 {
		c, index := s.child(fmt.Sprint("wrk_", i))
		var none api.ClaimAnswer
		s.must(kernel.AgentCaller, clerk, api.OpClaim, api.ClaimRequest{Agent: clerk, Worker: "wrk_more"}, &none)
		if index != i || none.Turn != "" {
			s.t.Errorf("task %d began as number %d, and beside it %q", index, i, none.Turn)
		}
		c.mustEnd(utp.StatusSuccess)
	}
	w.joined(utp.StatusSuccess, "success", "success", "success")
	w.closes()
}

// mostChildren: a turn with as many open turns within it as it may have begins no more.
func mostChildren(s *scene) {
	w := s.leads()
	w.calls(api.ToolCall{Key: "k1", Tool: "fork_join", Args: joins(turn.MaxBatch, "").Args},
		api.ToolCall{Key: "k2", Tool: "ask_expert", Args: api.Body{Inline: jsontext.Value(`{"expert_profile":"clerk","question":"and you?"}`)}})
	var refused *turn.Child
	for _, c := range s.turn(w.claim.Turn).Calls {
		if c.Batch != nil && len(c.Batch.Children) == 1 {
			refused = &c.Batch.Children[0]
		}
	}
	if refused == nil || refused.Turn != "" || refused.Code != utp.CodeTooManyTurns {
		s.t.Errorf("the call beside is %+v", refused)
	}
	if n := len(s.open()); n != turn.MaxBatch+1 {
		s.t.Errorf("%d turns are open", n)
	}
	s.stops(w.claim.Turn)
	s.noneOpen()
}

// nestedTooDeeply: the task has failed, and its parent goes on.
func nestedTooDeeply(s *scene) {
	request := api.EnqueueRequest{Agent: lead, Args: jsontext.Value(`{}`), Owner: person, Depth: turn.MaxDepth - 1}
	s.must(kernel.HubCaller, person, api.OpEnqueue, request, nil)
	w := s.claims(lead, "wrk_lead")
	w.calls(joins(2, ""))
	w.joined(utp.StatusFailed, "failed recursion_depth_exceeded", "failed recursion_depth_exceeded")
	w.closes()
}

// circle: the lead asks the clerk, and so on. The depth ends it with a failed task; nothing stands still, and each has its
// answer.
func circle(s *scene) {
	w := s.leads()
	all := []*seat{w}
	for depth := 1; depth < turn.MaxDepth; depth++ {
		next := []string{lead, clerk}[depth%2]
		all[depth-1].calls(one("ask_expert", fmt.Sprintf(`{"expert_profile":%q,"question":"and you?"}`, next)))
		all = append(all, s.claims(next, fmt.Sprint("wrk_", depth)))
	}
	deepest := all[len(all)-1]
	deepest.calls(one("ask_expert", `{"expert_profile":"lead","question":"and you?"}`))
	if r := deepest.result(); r.Status != utp.StatusFailed || r.Code != utp.CodeRecursionDepthExceeded {
		s.t.Errorf("the deepest one's result is %+v", r)
	}
	for i := len(all) - 1; i > 0; i-- {
		all[i].mustEnd(utp.StatusSuccess)
		if r := all[i-1].result(); r.Status != utp.StatusSuccess {
			s.t.Errorf("%d deep the result is %+v", i-1, r)
		}
	}
	w.closes()
}

// badTasks: nothing is started, and the turn goes on.
func badTasks(s *scene) {
	for name, args := range map[string]string{
		"no tasks at all":   `{}`,
		"not a list":        `{"tasks":"all"}`,
		"an unknown member": `{"tasks":[{"target_strategy":"new","target_ref":"clerk","instruction":"x"}],"fast":true}`,
		"no instruction":    `{"tasks":[{"target_strategy":"new","target_ref":"clerk"}]}`,
		"another strategy":  `{"tasks":[{"target_strategy":"clone","target_ref":"clerk","instruction":"x"}]}`,
		"no time":           `{"tasks":[{"target_strategy":"new","target_ref":"clerk","instruction":"x"}],"deadline_seconds":0}`,
	} {
		w := s.leads()
		w.calls(one("fork_join", args))
		if r := w.result(); r.Status != utp.StatusFailed || r.Code != utp.CodeBadRequest {
			s.t.Errorf("%s: the result is %+v", name, r)
		}
		w.closes()
	}
}
