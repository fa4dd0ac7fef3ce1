export class Server {
	constructor(kubeconfig: string);
	close(): void;
}
