// What the drill does to the cluster, one after the other. Each returns how it is ended.

import type { Cluster } from "./cluster.ts";
import type { Machine } from "./machine.ts";

export type Fault = {
  readonly name: string;
  /** Whether another machine must become the leader. */
  readonly losesLeader: boolean;
  /** Whether the machine that led may lead again instead. */
  readonly leaderMayStay?: boolean;
  /** Whether nothing may be acknowledged while it lasts. */
  readonly stopsCommits?: boolean;
  cause(cluster: Cluster, leader: Machine): Promise<() => Promise<void>>;
};

const othersOf = ({ machines }: Cluster, machine: Machine) => machines.filter((each) => each !== machine);

async function kill(cluster: Cluster, machine: Machine): Promise<() => Promise<void>> {
  await machine.kill();
  return () => cluster.turnOn(machine);
}

async function cutOff(machines: readonly Machine[]): Promise<() => Promise<void>> {
  await Promise.all(machines.map((machine) => machine.plug(false)));
  return async () => {
    await Promise.all(machines.map((machine) => machine.plug(true)));
  };
}

async function freeze(machine: Machine): Promise<() => Promise<void>> {
  await machine.signal("SIGSTOP");
  return () => machine.signal("SIGCONT");
}

async function endEtcd(cluster: Cluster, machines: readonly Machine[]): Promise<() => Promise<void>> {
  await Promise.all(machines.map((machine) => machine.signal("SIGKILL", "etcd")));
  return async () => {
    await Promise.all(machines.map((machine) => cluster.startEtcd(machine)));
  };
}

/** Those that lose the leader. */
export const LEADER_FAULTS: readonly Fault[] = [
  { name: "the leader's machine is lost", losesLeader: true, cause: kill },
  { name: "the leader is cut off", losesLeader: true, cause: (_, leader) => cutOff([leader]) },
  {
    name: "the leader's machine is frozen, and wakes up as a former leader",
    losesLeader: true,
    cause: (_, leader) => freeze(leader),
  },
  {
    name: "the leader's PostgreSQL is killed",
    losesLeader: true,
    leaderMayStay: true,
    cause: async (_, leader) => {
      await leader.signal("SIGKILL", "postgres");
      return () => Promise.resolve();
    },
  },
];

/** Those that leave it. */
export const OTHER_FAULTS: readonly Fault[] = [
  {
    name: "a standby's machine is lost",
    losesLeader: false,
    cause: async (cluster) => kill(cluster, await cluster.standby()),
  },
  {
    name: "two of three etcd members are killed",
    losesLeader: false,
    cause: (cluster, leader) => endEtcd(cluster, othersOf(cluster, leader)),
  },
  {
    name: "both standbys are frozen",
    losesLeader: false,
    stopsCommits: true,
    cause: async (cluster, leader) => {
      const ends = await Promise.all(othersOf(cluster, leader).map(freeze));
      return async () => {
        await Promise.all(ends.map((end) => end()));
      };
    },
  },
  { name: "a standby is frozen", losesLeader: false, cause: async (cluster) => freeze(await cluster.standby()) },
  { name: "a standby is cut off", losesLeader: false, cause: async (cluster) => cutOff([await cluster.standby()]) },
  {
    name: "the leader's etcd member is killed",
    losesLeader: false,
    cause: (cluster, leader) => endEtcd(cluster, [leader]),
  },
];
