// Virtual AGVs of npm's vda-5050-lib: node vda5050_agvs.js PACKAGE BROKER '[{"serial", "x", "y", "node", "battery"}]' TIMELAPSE
// Prints READY when all of them are on the broker.
const [, , library, broker, given, timeLapse] = process.argv;
const { AgvController, VirtualAgvAdapter } = require(library);

// The library throws out of a socket's callback when the broker goes away under a publish; its client connects again.
process.on("uncaughtException", (error) => console.error(error));

async function start({ serial, x, y, node, battery = 100 }) {
  const client = { interfaceName: "uagv", transport: { brokerUrl: broker, reconnectPeriod: 300 }, vdaVersion: "2.0.0" };
  const options = {
    agvAdapterType: VirtualAgvAdapter,
    publishStateInterval: 30000,
    publishVisualizationInterval: 1000,
  };
  const adapter = {
    initialPosition: { mapId: "local", x, y, theta: 0, lastNodeId: node },
    timeLapse: Number(timeLapse),
    initialBatteryCharge: battery,
    vehicleSpeed: 2,
    tickRate: 20,
  };
  const controller = new AgvController({ manufacturer: "acme", serialNumber: serial }, client, options, adapter);
  await controller.start();
}

Promise.all(JSON.parse(given).map(start)).then(
  () => console.log("READY"),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
