/* Level-synchronous breadth-first search, two kernels a level. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <math.h>
#include <cuda.h>

#define MAX_THREADS_PER_BLOCK 256

int no_of_nodes;
int edge_list_size;

//Structure to hold a node information
struct Node
{
	int starting;
	int no_of_edges;
};

#include "kernel.cu"
#include "kernel2.cu"

static int BFSGraph(int argc, char** argv);

int main( int argc, char** argv) 
{
	no_of_nodes=0;
	edge_list_size=0;
	return BFSGraph( argc, argv);
}

static unsigned lcg = 7;
static int next_int(int n) { lcg = lcg * 1103515245u + 12345u; return (int)((lcg >> 8) % (unsigned) n); }

static int BFSGraph( int argc, char** argv) 
{
	no_of_nodes = argc > 1 ? atoi(argv[1]) : 3000;
	int source = 0;
	int num_of_blocks = 1;
	int num_of_threads_per_block = no_of_nodes;
	if(no_of_nodes>MAX_THREADS_PER_BLOCK)
	{
		num_of_blocks = (int)ceil(no_of_nodes/(double)MAX_THREADS_PER_BLOCK); 
		num_of_threads_per_block = MAX_THREADS_PER_BLOCK; 
	}
	Node* h_graph_nodes = (Node*) malloc(sizeof(Node)*no_of_nodes);
	bool *h_graph_mask = (bool*) malloc(sizeof(bool)*no_of_nodes);
	bool *h_updating_graph_mask = (bool*) malloc(sizeof(bool)*no_of_nodes);
	bool *h_graph_visited = (bool*) malloc(sizeof(bool)*no_of_nodes);
	for( unsigned int i = 0; i < no_of_nodes; i++) 
	{
		h_graph_nodes[i].starting = edge_list_size;
		h_graph_nodes[i].no_of_edges = 1 + next_int(5);
		edge_list_size += h_graph_nodes[i].no_of_edges;
		h_graph_mask[i]=h_updating_graph_mask[i]=h_graph_visited[i]=false;
	}
	h_graph_mask[source]=true;
	h_graph_visited[source]=true;
	int* h_graph_edges = (int*) malloc(sizeof(int)*edge_list_size);
	for(int i=0; i < edge_list_size ; i++) h_graph_edges[i] = next_int(no_of_nodes);

	Node* d_graph_nodes;
	cudaMalloc( (void**) &d_graph_nodes, sizeof(Node)*no_of_nodes) ;
	cudaMemcpy( d_graph_nodes, h_graph_nodes, sizeof(Node)*no_of_nodes, cudaMemcpyHostToDevice) ;
	int* d_graph_edges;
	cudaMalloc( (void**) &d_graph_edges, sizeof(int)*edge_list_size) ;
	cudaMemcpy( d_graph_edges, h_graph_edges, sizeof(int)*edge_list_size, cudaMemcpyHostToDevice) ;
	bool *d_graph_mask, *d_updating_graph_mask, *d_graph_visited, *d_over;
	cudaMalloc( (void**) &d_graph_mask, sizeof(bool)*no_of_nodes) ;
	cudaMemcpy( d_graph_mask, h_graph_mask, sizeof(bool)*no_of_nodes, cudaMemcpyHostToDevice) ;
	cudaMalloc( (void**) &d_updating_graph_mask, sizeof(bool)*no_of_nodes) ;
	cudaMemcpy( d_updating_graph_mask, h_updating_graph_mask, sizeof(bool)*no_of_nodes, cudaMemcpyHostToDevice) ;
	cudaMalloc( (void**) &d_graph_visited, sizeof(bool)*no_of_nodes) ;
	cudaMemcpy( d_graph_visited, h_graph_visited, sizeof(bool)*no_of_nodes, cudaMemcpyHostToDevice) ;
	int* h_cost = (int*) malloc( sizeof(int)*no_of_nodes);
	for(int i=0;i<no_of_nodes;i++) h_cost[i]=-1;
	h_cost[source]=0;
	int* d_cost;
	cudaMalloc( (void**) &d_cost, sizeof(int)*no_of_nodes);
	cudaMemcpy( d_cost, h_cost, sizeof(int)*no_of_nodes, cudaMemcpyHostToDevice) ;
	cudaMalloc( (void**) &d_over, sizeof(bool));

	dim3  grid( num_of_blocks, 1, 1);
	dim3  threads( num_of_threads_per_block, 1, 1);
	int k=0;
	bool stop;
	do
	{
		stop=false;
		cudaMemcpy( d_over, &stop, sizeof(bool), cudaMemcpyHostToDevice) ;
		Kernel<<< grid, threads, 0 >>>( d_graph_nodes, d_graph_edges, d_graph_mask, d_updating_graph_mask, d_graph_visited, d_cost, no_of_nodes);
		Kernel2<<< grid, threads, 0 >>>( d_graph_mask, d_updating_graph_mask, d_graph_visited, d_over, no_of_nodes);
		cudaMemcpy( &stop, d_over, sizeof(bool), cudaMemcpyDeviceToHost) ;
		k++;
	}
	while(stop);
	printf("Kernel Executed %d times\n",k);
	cudaMemcpy( h_cost, d_cost, sizeof(int)*no_of_nodes, cudaMemcpyDeviceToHost) ;

	int *ref = (int*) malloc(sizeof(int)*no_of_nodes), *queue = (int*) malloc(sizeof(int)*no_of_nodes);
	for(int i=0;i<no_of_nodes;i++) ref[i]=-1;
	int head=0, tail=0;
	ref[source]=0; queue[tail++]=source;
	while(head<tail) {
		int n=queue[head++];
		for(int e=0;e<h_graph_nodes[n].no_of_edges;e++) {
			int to=h_graph_edges[h_graph_nodes[n].starting+e];
			if(ref[to]<0) { ref[to]=ref[n]+1; queue[tail++]=to; }
		}
	}
	int wrong=0;
	for(int i=0;i<no_of_nodes;i++) wrong += ref[i]!=h_cost[i];
	printf("%s: %d of %d costs differ\n", wrong ? "FAILED" : "PASSED", wrong, no_of_nodes);
	cudaFree(d_graph_nodes); cudaFree(d_graph_edges); cudaFree(d_graph_mask);
	return wrong != 0;
}
